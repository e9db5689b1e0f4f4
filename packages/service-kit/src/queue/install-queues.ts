import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { PgBoss, type Queue } from "pg-boss";
import type { MigrationOptions } from "../database/migrate.ts";
import { retryLocks } from "../database/retry-locks.ts";
import { neededQueueVersion, queueSchema, readQueueVersion } from "./queue-version.ts";

export type Queues = Record<string, Omit<Queue, "name">>;

/**
 * Creates the queues and grants the service its rights on them, which needs the rights of the schema's owner. Upgrades an older schema only
 * if `upgradesQueue` is set, and leaves a newer one as it is: processes of another version than the schema's can't start.
 */
export async function installQueues(
  ownerUrl: string,
  queues: Queues,
  serviceRole: string,
  { upgradesQueue = true, report = () => undefined }: MigrationOptions = {},
): Promise<void> {
  const install = async (client: pg.Client): Promise<void> => {
    // Serialises concurrent migrators, which would otherwise create the same queues.
    await client.query("select pg_advisory_lock(hashtext('ehr-marketplace queues'))");
    const version = await readQueueVersion(client);
    if (version !== undefined && (version > neededQueueVersion || (version < neededQueueVersion && !upgradesQueue))) {
      report(
        `The queue's schema has version ${version}, and this version of the service needs ${neededQueueVersion}. ${
          version > neededQueueVersion
            ? "A newer version has upgraded it, so it was left as it is."
            : `It was left as it is: "Upgrading" in the operator's guide says when to run this step again with --queue.`
        }`,
      );
      return;
    }
    await createQueues(ownerUrl, queues, report);
    await client.query(dropPartitionKeys);
    await client.query(grantsFor(pg.escapeIdentifier(serviceRole)));
  };
  await retryLocks(ownerUrl, install, report);
}

/** pg-boss creates this queue itself in every process that schedules jobs. */
const schedulerQueue = "__pgboss__send-it";

/**
 * Lets the service write jobs and schedules. It can't write anything that `createQueues` executes with the owner's rights (`bam`
 * contains statements, `queue.table_name` becomes part of some), nor the version that selects the migrations of pg-boss.
 */
const grantsFor = (role: string): string => `
  revoke all on all tables in schema ${queueSchema} from ${role};
  grant usage on schema ${queueSchema} to ${role};
  grant select on all tables in schema ${queueSchema} to ${role};
  grant insert, update, delete on ${queueSchema}.schedule, ${queueSchema}.job_dependency to ${role};
  grant update (cron_on, flow_on, monitor_backoff_on) on ${queueSchema}.version to ${role};
  grant update (
    deferred_count, queued_count, ready_count, active_count, failed_count, total_count, created_delta, completed_delta,
    failed_delta, delta_on, delta_seconds, ready_history, singletons_active, monitor_claim_on, monitor_on, maintain_on
  ), insert on ${queueSchema}.queue to ${role};
  do $$
  declare
    job_table regclass;
  begin
    if not exists (select from pg_policy where polrelid = '${queueSchema}.queue'::regclass) then
      alter table ${queueSchema}.queue enable row level security;
      create policy every_row_is_read on ${queueSchema}.queue for select using (true);
      create policy every_row_is_updated on ${queueSchema}.queue for update using (true);
      create policy only_the_scheduler_queue_is_inserted on ${queueSchema}.queue for insert
        with check (name = '${schedulerQueue}' and policy = 'standard' and not partition and table_name = 'job_common');
    end if;
    for job_table in select relid from pg_partition_tree('${queueSchema}.job') loop
      execute format('grant insert, update, delete on %s to ${role}', job_table);
    end loop;
  end
  $$;`;

/**
 * Drops the foreign keys from partitions to `queue`. Its check locks the queue's row at each commit that inserts a job, and concurrent
 * ones make a multixact each. A partition has a check constraint on the queue's name, and is dropped with its queue.
 */
const dropPartitionKeys = `
  do $$
  declare
    job_table regclass;
  begin
    for job_table in
      select conrelid from pg_constraint
      where conname = 'q_fkey' and conrelid in (select relid from pg_partition_tree('${queueSchema}.job'))
        and conrelid <> '${queueSchema}.job_common'::regclass
    loop
      execute format('alter table %s drop constraint q_fkey', job_table);
    end loop;
  end
  $$;`;

async function createQueues(ownerUrl: string, queues: Queues, report: (line: string) => void): Promise<void> {
  const boss = new PgBoss({
    connectionString: ownerUrl,
    schema: queueSchema,
    max: 2,
    supervise: false,
    schedule: false,
    migrate: true,
    bamIntervalSeconds: indexIntervalSeconds,
  });
  boss.on("error", () => undefined);
  await boss.start();
  try {
    for (const [name, options] of Object.entries(queues)) {
      // The policy and the partition of an existing queue can't be changed.
      const { policy: _policy, partition: _partition, ...changeable } = options;
      if ((await boss.getQueue(name)) === null) await boss.createQueue(name, options);
      else await boss.updateQueue(name, changeable);
    }
    await waitForIndexes(boss, report);
  } finally {
    await boss.stop({ graceful: false });
  }
}

/** The least that pg-boss accepts. */
const indexIntervalSeconds = 10;
const maxIndexWaitMs = 30 * 60_000;

/** An upgrade leaves the indexes of existing tables to the process that did it, which builds them one after the other. */
async function waitForIndexes(boss: PgBoss, report: (line: string) => void): Promise<void> {
  const deadline = performance.now() + maxIndexWaitMs;
  let reported: number | undefined;
  for (;;) {
    const states = await boss.getBamStatus();
    const missing = states.reduce((sum, { status, count }) => sum + (status === "completed" ? 0 : count), 0);
    if (missing === 0) return;
    if (performance.now() > deadline) {
      return report(`The queue lacks ${missing} indexes, which makes it slower. Run this step again to build them.`);
    }
    if (missing !== reported) report(`Building indexes of the queue: ${missing} left.`);
    reported = missing;
    await delay(200);
  }
}
