import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { deliveryStatuses } from "@ehr-marketplace/contracts";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createKeyedDigest, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, isFullRun } from "@ehr-marketplace/test-kit";
import type { ExecutedPlan } from "@ehr-marketplace/tests/support/executed-plans";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { RequestContext } from "../access/request-context.ts";
import { highUsageLimits } from "../billing/usage-limits.test-support.ts";
import type { DB } from "../database-schema.ts";
import { findDeliveries } from "../endpoints/endpoint-store.ts";
import { recordEvent } from "../events/record-event.ts";
import { deliveries, recoveries } from "../queue/queues.ts";
import { readHealth } from "../recipients/read-health.ts";
import {
  estimateTotal,
  findFailures,
  findPastEvents,
  type Replayable,
  type ReplayEndpoint,
} from "../replays/replay-store.ts";
import { changeSubscription } from "../subscriptions/change-subscription.ts";
import { delivered } from "./attempt-result.test-support.ts";
import { type Backlogged, startBacklogged } from "./bounded-reads.test-support.ts";
import { returnUnclaimedJobs } from "./claim.ts";
import { type ClaimedDelivery, claimDeliveries } from "./claim-store.ts";
import { type DeliveryJob, insertJobs } from "./delivery-jobs.ts";
import { readBacklog } from "./delivery-metrics.ts";
import { recoverRecipient } from "./recover-recipient.ts";
import { settleDelivered, settleFailed } from "./settle.ts";
import { sweepDeliveries } from "./sweep.ts";

/** The first that waits for so many ordering keys, half of them the endpoint's, become jobs that are fetched and claimed. */
async function claimHeads(
  { connected, run, endpointId }: Backlogged,
  most: number,
): Promise<{ jobs: DeliveryJob[]; claimed: ClaimedDelivery[] }> {
  const { database, queue } = connected;
  await run("delete from pgboss.job where name = $1", deliveries);
  const heads = await run<{ id: string; recipient_id: string }>(
    `with head as (
       select distinct on (recipient_id, subscription_id) id, recipient_id from deliveries where settled_at is null
       order by recipient_id, subscription_id, sequence
     )
     update deliveries set status = 'queued' where id in (
       (select id from head where recipient_id = $1 limit $2 / 2)
       union all (select id from head where recipient_id <> $1 limit $2 - $2 / 2)
     ) returning id, recipient_id`,
    endpointId,
    most,
  );
  await database.transaction().execute((transaction) => insertJobs(transaction, queue, heads));
  const jobs: DeliveryJob[] = await queue.boss().fetch(deliveries, { batchSize: most, includeMetadata: true });
  const ids = jobs.map(({ id }) => id);
  return { jobs, claimed: await claimDeliveries(database, { ids, probes: [], workerId: null, now: new Date() }) };
}

async function recover({ connected, run, endpointId }: Backlogged, status: "held" | "active"): Promise<void> {
  const setStatus = "update recipients set status = $2, held_since = case $2 when 'held' then now() end where id = $1";
  await run(setStatus, endpointId, status);
  await run("delete from pgboss.job where name = $1", recoveries);
  await connected.queue.boss().insert(recoveries, [{ id: endpointId, data: {} }]);
  await connected.queue.boss().fetch(recoveries);
  await recoverRecipient(connected, { id: endpointId, retryCount: 0 });
  await run(setStatus, endpointId, "active");
}

async function replay(
  { connected, changes, endpointId }: Backlogged,
  find: (transaction: Transaction<DB>, replay: Replayable, audience: ReplayEndpoint) => Promise<unknown>,
  kind: "range" | "failures" = "range",
): Promise<void> {
  const all = { recipient_id: endpointId, kind, from_at: null, to_at: new Date(), cursor_at: null, cursor_id: null };
  const audience = { vendor_id: changes[0]?.vendorId ?? "", events: ["subscription.paused"] };
  await connected.database.transaction().execute((transaction) => find(transaction, all, audience));
}

const bodyDigest = createKeyedDigest(parseEncryptionKeys(developmentEncryptionKeys), "idempotency");
const operator: RequestContext = {
  caller: {
    issuer: "https://id.example",
    subject: "operator",
    roles: new Set(["operator"]),
    organisations: new Map(),
    vendors: new Set(),
    ignoredRoleReasons: [],
  },
  requestId: "a-request",
};

interface UseCase {
  work: (given: Backlogged) => Promise<unknown>;
  /** Per statement. Statements of the hot path read about as much as they write, however many deliveries wait. */
  maxRows?: number;
  maxPages?: number;
}

const useCases: Record<string, UseCase> = {
  "recording an event": {
    async work({ connected, run, changes }) {
      const [change] = changes;
      assert.ok(change !== undefined);
      const [last] = await run<{ next: number }>(
        "select coalesce(max(sequence), 0) + 1 as next from events where subscription_id = $1",
        change.subscription.id,
      );
      const event = { event: "subscription.paused", pauseReason: null, sequence: last?.next ?? 1 } as const;
      await connected.database
        .transaction()
        .execute((transaction) =>
          recordEvent(transaction, connected.queue, { ...change, ...event, occurredAt: new Date() }),
        );
    },
  },
  "pausing and resuming a subscription": {
    async work({ connected, changes }) {
      const id = changes[1]?.subscription.id ?? "";
      const deps = { ...connected, bodyDigest, usageLimits: highUsageLimits };
      const repeatable = { key: uuid(), method: "POST", path: "/", body: {} };
      await changeSubscription(deps, operator, id, { do: "pause", reason: "ORG_REQUEST" }, repeatable);
      await changeSubscription(deps, operator, id, { do: "resume" }, { ...repeatable, key: uuid() });
    },
  },
  "claiming and settling a hundred that were delivered": {
    async work(given) {
      const { jobs, claimed } = await claimHeads(given, 100);
      const settlements = claimed.flatMap((delivery) => {
        const job = jobs.find(({ id }) => id === delivery.id);
        return job === undefined ? [] : [{ delivery, result: delivered, isProbe: false, job }];
      });
      if (settlements.length > 0) await settleDelivered({ ...given.connected, random: Math.random }, settlements);
    },
  },
  "settling a last failure": {
    async work(given) {
      const { jobs, claimed } = await claimHeads(given, 1);
      const [[job], [delivery]] = [jobs, claimed];
      if (delivery === undefined || job === undefined) return;
      const result = { ...delivered, outcome: "failed" as const, statusCode: 500 };
      const settlement = { delivery: { ...delivery, failures: 11 }, result, isProbe: false, job };
      await settleFailed({ ...given.connected, random: Math.random }, settlement);
    },
  },
  "returning a hundred that can't be claimed": {
    async work(given) {
      const { jobs } = await claimHeads(given, 100);
      await returnUnclaimedJobs(given.connected, jobs);
    },
  },
  "choosing a probe": { work: (given) => recover(given, "held") },
  "a step of a recovery": { work: (given) => recover(given, "active") },
  "a vendor's list of deliveries, by each status": {
    async work({ connected, endpointId }) {
      for (const status of deliveryStatuses.filter((each) => each !== "delivered")) {
        const filter = { status, from: undefined, to: undefined };
        await findDeliveries(connected.database, endpointId, filter, { after: undefined, limit: 101 });
      }
    },
  },
  "counting what a replay is about": {
    work: (given) => replay(given, estimateTotal),
    // Counts 10,000 events at most, each with its deliveries.
    maxRows: 60_000,
    maxPages: 120_000,
  },
  "a step of a replay": {
    work: (given) => replay(given, (...of) => findPastEvents(...of, 1_000)),
    maxRows: 6_000,
    maxPages: 12_000,
  },
  "a step of a replay of failures": {
    work: (given) => replay(given, (transaction, failures) => findFailures(transaction, failures, 1_000), "failures"),
  },
  "the sweep": {
    work: ({ connected }) => sweepDeliveries(connected.database, connected.queue, new Date()),
    // A few for each recipient, and for each ordering key of those that are active.
    maxRows: 20_000,
    maxPages: 60_000,
  },
  health: { work: ({ connected }) => readHealth(connected, { limit: 100 }), maxRows: 40_000, maxPages: 10_000 },
  "the backlog, which is counted once in a while": {
    work: ({ connected }) => readBacklog(connected.database),
    maxRows: 250_000,
    maxPages: 10_000,
  },
};

const describePlan = ({ statement, rowsRead, pagesRead, scans }: ExecutedPlan): string =>
  `${rowsRead} rows, ${pagesRead} pages: ${statement.slice(0, 100)} [${scans}]`;

for (const statistics of isFullRun ? (["stale", "empty"] as const) : (["stale"] as const)) {
  describe(`with 100,000 waiting deliveries, generic plans and ${statistics} statistics`, () => {
    const cleanUp = cleanUpAfter();
    let given: Backlogged;
    before(async () => {
      given = await startBacklogged(cleanUp, statistics, async (unloaded) => {
        for (const { work } of Object.values(useCases)) await work(unloaded);
      });
    });

    for (const [name, { work, maxRows = 2_500, maxPages = 5_000 }] of Object.entries(useCases)) {
      test(`${name} reads at most ${maxRows} rows`, async () => {
        given.plans.take();
        await work(given);
        const plans = given.plans.take();
        assert.notEqual(plans.length, 0, "statements are explained");
        const excessive = plans.filter(({ rowsRead, pagesRead }) => rowsRead > maxRows || pagesRead > maxPages);
        assert.deepEqual(excessive.map(describePlan), []);
      });
    }
  });
}
