import type pg from "pg";

export interface DatabaseCounters {
  statements: number;
  commits: number;
  walBytes: number;
  rows: number;
}

/** Counters of the current database since its statistics were reset. The bench's own statements are excluded from `statements` only. */
export async function readCounters(client: pg.Client): Promise<DatabaseCounters> {
  const { rows } = await client.query<Record<keyof DatabaseCounters, string>>(
    `select
       (select coalesce(sum(calls), 0) from pg_stat_statements
        where toplevel and dbid = (select oid from pg_database where datname = current_database())
          and userid <> current_user::regrole) as statements,
       (select xact_commit from pg_stat_database where datname = current_database()) as commits,
       pg_current_wal_insert_lsn() - '0/0'::pg_lsn as "walBytes",
       (select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables) as rows`,
  );
  const [counters] = rows;
  if (counters === undefined) throw new Error("the counters returned no row");
  return {
    statements: Number(counters.statements),
    commits: Number(counters.commits),
    walBytes: Number(counters.walBytes),
    rows: Number(counters.rows),
  };
}

/** Rows that backends have reported as inserted and updated; an idle backend reports within ten seconds. */
export async function readReportedRows(client: pg.Client): Promise<{ events: number; settledAttempts: number }> {
  const { rows } = await client.query<{ events: string; settled: string }>(
    `select
       (select n_tup_ins from pg_stat_user_tables where relname = 'events') as events,
       (select sum(n_tup_upd) from pg_stat_user_tables where relname like 'delivery_attempts%') as settled`,
  );
  return { events: Number(rows[0]?.events ?? 0), settledAttempts: Number(rows[0]?.settled ?? 0) };
}

export interface CostlyStatement {
  query: string;
  calls: number;
  planMs: number;
  executeMs: number;
}

export async function readCostliestStatements(client: pg.Client, limit: number): Promise<CostlyStatement[]> {
  const { rows } = await client.query<{ query: string; calls: string; plan: number; execute: number }>(
    `select query, calls, total_plan_time as plan, total_exec_time as execute from pg_stat_statements
     where dbid = (select oid from pg_database where datname = current_database()) and userid <> current_user::regrole
     order by total_plan_time + total_exec_time desc limit $1`,
    [limit],
  );
  return rows.map(({ query, calls, plan, execute }) => ({
    query: query.replaceAll(/\s+/g, " ").trim(),
    calls: Number(calls),
    planMs: plan,
    executeMs: execute,
  }));
}
