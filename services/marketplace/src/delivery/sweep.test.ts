import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { recordEvent } from "../events/record-event.ts";
import { recoveries } from "../queue/queues.ts";
import { scheduleRecovery } from "../recipients/recovery-jobs.ts";
import { sweepDeliveries } from "./sweep.ts";

const othersWaiting = 5_000;

describe("with thousands of deliveries waiting for a held recipient", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let database: Kysely<DB>;
  let queue: Queue;
  let practices: { id: string; alias: string }[];
  const rows = async <T extends object>(sql: string, values: unknown[] = []): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(sql, values))).rows;

  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    // One connection, whose statistics count the rows read.
    ({ database, queue } = await connectAsService<DB>(cleanUp, cloned.serviceUrl, { poolSize: 1 }));
    practices = await registerPractices(ownerUrl, { count: othersWaiting, callbackUrl: "http://127.0.0.1:9" });
    await rows("update recipients set status = 'held', held_since = now() where id = $1", [practices[0]?.id]);
    await rows(
      `with happened as (
         insert into events (id, event, occurred_at, payload)
         select mint_uuid(), 'subscription.created', now(), '{}' from generate_series(1, $2) returning id
       )
       insert into deliveries (id, event_id, recipient_id, status, created_at)
       select mint_uuid(), id, $1, 'waiting', now() - interval '1 hour' from happened`,
      [practices[0]?.id, othersWaiting],
    );
    const startAfter = new Date(Date.now() + 900_000);
    await database
      .transaction()
      .execute((transaction) => scheduleRecovery(transaction, queue, practices[0]?.id ?? "", { startAfter }));
    await rows("analyze");
  });

  /** How many rows of these tables the work has read, by scan or by index. */
  const rowsRead = async (work: () => Promise<unknown>): Promise<number> => {
    const count = async (): Promise<number> => {
      await database.selectNoFrom((select) => select.fn("pg_stat_force_next_flush").as("flushed")).execute();
      const [read] = await rows<{ rows: number }>(
        `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_user_tables
         where relname in ('recipients', 'deliveries')`,
      );
      return read?.rows ?? 0;
    };
    const earlier = await count();
    await work();
    return (await count()) - earlier;
  };

  const record = async (practice: { id: string; alias: string } | undefined): Promise<string> => {
    assert.ok(practice !== undefined);
    const [made] = await rows<{ id: string; app_id: string; vendor_id: string }>(
      `insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
       select mint_uuid(), $1, apps.id, plan.id, 'active', now(), now(), 1
       from apps join pricing_plans plan on app_id = apps.id where slug = 'northwind-scribe' limit 1
       returning id, app_id, (select vendor_id from apps where apps.id = app_id)`,
      [practice.id],
    );
    assert.ok(made !== undefined);
    await database.transaction().execute((transaction) =>
      recordEvent(transaction, queue, {
        event: "subscription.created",
        app: {
          id: made.app_id,
          slug: "northwind-scribe",
          name: "Scribe",
          iconUrl: "https://a.example/icon.svg",
          category: "DOCUMENTATION",
          extensionPoints: [],
          smartLaunchUrl: null,
          fhirScopes: "",
        },
        subscription: { id: made.id, status: "active", orgAlias: practice.alias },
        pauseReason: null,
        organisationId: practice.id,
        vendorId: made.vendor_id,
        sequence: 1,
        occurredAt: new Date(),
      }),
    );
    return made.id;
  };

  test("an event is recorded without reading those, or other recipients", async () => {
    const read = await rowsRead(() => record(practices[1]));
    assert.ok(read < 50, `${read} rows were read`);
  });

  test("the sweep finds deliveries without a job and without a predecessor, and reads only those", async () => {
    const inMinutes = new Date(Date.now() + 120_000);
    const queuedWithoutJob = await record(practices[2]);
    const waitsForNothing = await record(practices[3]);
    const inOrder = await record(practices[4]);
    const lost = "select id from deliveries where subscription_id = any ($1::uuid[])";
    await rows(`delete from pgboss.job where id in (${lost})`, [[queuedWithoutJob, waitsForNothing]]);
    await rows("update deliveries set status = 'waiting' where subscription_id = $1", [waitsForNothing]);
    assert.equal(await sweepDeliveries(database, queue, new Date()), 0, "not within their first minute");

    let found = 0;
    const read = await rowsRead(async () => {
      found = await sweepDeliveries(database, queue, inMinutes);
    });
    assert.equal(found, 2);
    assert.ok(read < 100, `${read} rows were read`);
    assert.deepEqual(
      await rows(
        `select d.status, count(j.id)::int as jobs from deliveries d left join pgboss.job j on j.id = d.id
         where subscription_id = any ($1::uuid[]) group by 1`,
        [[queuedWithoutJob, waitsForNothing, inOrder]],
      ),
      [{ status: "queued", jobs: 3 }],
    );
    assert.equal(await sweepDeliveries(database, queue, inMinutes), 0);
  });

  test("the sweep skips recipients that have a recovery job", async () => {
    const [back] = practices;
    assert.ok(back !== undefined);
    await rows("update recipients set status = 'active', held_since = null where id = $1", [back.id]);
    await queue.boss().insert(recoveries, [{ id: back.id, data: {} }]);
    const read = await rowsRead(async () => {
      assert.equal(await sweepDeliveries(database, queue, new Date()), 0);
    });
    assert.ok(read < 100, `${read} rows were read`);
  });
});
