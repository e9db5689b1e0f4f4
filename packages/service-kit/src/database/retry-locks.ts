import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";

export interface LockLimits {
  /** How long a statement waits for a lock. Meanwhile whoever needs the table waits behind it, readers too. */
  timeoutMs: number;
  /** After it, the work isn't tried again. */
  giveUpMs: number;
}

const defaultLimits: LockLimits = { timeoutMs: 2_000, giveUpMs: 15 * 60_000 };
const pauseMs = { initial: 1_000, max: 10_000 };

/**
 * Runs `work` with a connection whose statements wait for locks only briefly, and runs it again while it fails because of that. So one
 * long transaction of somebody else delays this work, and not everybody who needs the same tables. `work` has to be repeatable: usually
 * a transaction.
 */
export async function retryLocks<Result>(
  database: string | pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
  report: (line: string) => void,
  { timeoutMs, giveUpMs }: LockLimits = defaultLimits,
): Promise<Result> {
  const config = typeof database === "string" ? { connectionString: database } : database;
  const deadline = performance.now() + giveUpMs;
  for (let pause = pauseMs.initial; ; pause = Math.min(pause * 2, pauseMs.max)) {
    const client = new pg.Client({ application_name: "migration step", ...config });
    // A connection that breaks fails its statement, and also emits an error event, which without a listener ends the process.
    client.on("error", () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>(
      "select pg_backend_pid() as pid, set_config('lock_timeout', $1, false)",
      [String(timeoutMs)],
    );
    const watch = watchBlockers(config, rows[0]?.pid);
    try {
      return await work(client);
    } catch (error) {
      const holders = await watch.stop();
      if (!isLockFailure(error)) throw error;
      if (performance.now() + pause > deadline) {
        const minutes = Math.ceil(giveUpMs / 60_000);
        throw new Error(`gave up after ${minutes} min, because ${holders} a lock that it needs`, {
          cause: error,
        });
      }
      report(`Waiting, because ${holders} a lock that this step needs. Retrying in ${pause / 1_000} s.`);
    } finally {
      await watch.stop();
      await client.end();
    }
    await delay(pause);
  }
}

/** SQLSTATE codes of a lock that wasn't released in time, and of a deadlock. */
const lockCodes = new Set<unknown>(["55P03", "40P01"]);

const isLockFailure = (error: unknown): boolean =>
  error instanceof Error && (lockCodes.has((error as { code?: unknown }).code) || isLockFailure(error.cause));

interface Blocker {
  pid: number;
  login: string;
  application: string;
  seconds: number | null;
}

const pollMs = 250;

/** What a transaction did last may contain data, so its statement isn't read. Without the right to see it, neither is its age. */
const findBlockers = `
  select pid, usename as login, application_name as application, extract(epoch from now() - xact_start)::int as seconds
  from pg_stat_activity where pid = any (pg_blocking_pids($1))`;

/** Notes who blocks a connection: once its statement has failed, PostgreSQL no longer knows. */
function watchBlockers(config: pg.ClientConfig, pid: number | undefined): { stop(): Promise<string> } {
  const stopped = new AbortController();
  let blockers: Blocker[] = [];
  const poll = async (): Promise<void> => {
    const client = new pg.Client(config);
    client.on("error", () => undefined);
    try {
      await client.connect();
      while (!stopped.signal.aborted) {
        const { rows } = await client.query<Blocker>(findBlockers, [pid]);
        if (rows.length > 0) blockers = rows;
        await delay(pollMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      }
    } catch {
      // Without the names, the work is done all the same.
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const polling = poll();
  return {
    async stop() {
      stopped.abort();
      await polling;
      return describe(blockers);
    },
  };
}

function describe(blockers: Blocker[]): string {
  const each = blockers.map(({ pid, login, application, seconds }) =>
    [`process ${pid} of ${login}`, application && `(${application})`, seconds !== null && `for ${seconds} s`]
      .filter(Boolean)
      .join(" "),
  );
  return each.length === 0 ? "another transaction holds" : `a transaction holds (${each.join(", ")})`;
}
