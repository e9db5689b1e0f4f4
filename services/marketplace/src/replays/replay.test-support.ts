import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { createKeyedDigest, type Encryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { type CleanUp } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { Kysely } from "kysely";
import { v7 as uuid } from "uuid";
import type { VendorContext } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { delivered as arrived } from "../delivery/attempt-result.test-support.ts";
import { claimDeliveries } from "../delivery/claim-store.ts";
import { settleDelivered } from "../delivery/settle.ts";
import type { EndpointDeps } from "../endpoints/change-endpoint.ts";
import { deliveries } from "../queue/queues.ts";
import { runDueReplays } from "./run-replay-step.ts";

export const vendor = "northwind-health";

export const developer: VendorContext = {
  caller: {
    issuer: "https://id.example",
    subject: "developer",
    roles: new Set(["vendor-developer"]),
    organisations: new Map(),
    vendors: new Set([vendor]),
    ignoredRoleReasons: [],
  },
  requestId: "a-request",
  vendor,
  role: "vendor-developer",
};

type Query = <T>(statement: string, ...values: unknown[]) => Promise<T[]>;

export interface Replayground extends EndpointDeps {
  database: Kysely<DB>;
  queue: Queue;
  /** As the database's owner. */
  query: Query;
  /** Runs the next step of every replay without waiting for its time. */
  step(): Promise<void>;
  /** Delivers all ready deliveries and their successors, and returns their ids in order. */
  deliver(limit?: number): Promise<string[]>;
}

/** A database with a queue and no worker: the test runs the steps itself. */
export async function startReplayground(
  cleanUp: CleanUp,
  given: { serviceUrl: string; query: Query; encryption: Encryption },
): Promise<Replayground> {
  const { serviceUrl, query, encryption } = given;
  const { database, queue, clock, logger } = await connectAsService<DB>(cleanUp, serviceUrl, { poolSize: 5 });
  const common = { database, queue, clock };
  return {
    ...common,
    encryption,
    bodyDigest: createKeyedDigest(parseEncryptionKeys(developmentEncryptionKeys), "idempotency"),
    allowedNetworks: [],
    query: query,
    async step() {
      await query("update pgboss.job set start_after = now() where name = 'replays' and state = 'created'");
      await runDueReplays(common);
    },
    async deliver(limit = Number.POSITIVE_INFINITY) {
      const delivered: string[] = [];
      const boss = queue.boss();
      while (delivered.length < limit) {
        const jobs = await boss.fetch(deliveries, { batchSize: Math.min(limit - delivered.length, 1_000) });
        if (jobs.length === 0) break;
        const claimed = await claimDeliveries(common.database, {
          ids: jobs.map(({ id }) => id),
          probes: [],
          workerId: null,
          now: new Date(),
        });
        const settlements = claimed.map((delivery) => ({
          delivery,
          result: arrived,
          isProbe: false,
          job: { id: delivery.id, retryCount: 0 },
        }));
        await settleDelivered({ ...common, logger, random: Math.random }, settlements);
        delivered.push(...claimed.map(({ id }) => id));
      }
      return delivered;
    },
  };
}

/** The time of a subscription's first event; the others follow a minute apart. */
export const firstAt = "2026-01-01T00:00:00.000Z";
export const minute = (nth: number): string => new Date(Date.parse(firstAt) + nth * 60_000).toISOString();

/** Creates an endpoint with delivered events of several subscriptions, and some without an ordering key. */
export async function createEndpointWithHistory(
  playground: Replayground,
  history: { subscriptions: number; perSubscription: number; pings?: number },
): Promise<string> {
  const endpointId = uuid();
  const query: Replayground["query"] = (...given) => playground.query(...given);
  await query(
    `insert into webhook_endpoints (id, vendor_id, url, events, encrypted_secret, created_at, updated_at)
     select $1, id, 'http://127.0.0.1:9', '{subscription.paused}', '1.unread', now(), now() from vendors where slug = $2`,
    endpointId,
    vendor,
  );
  await query(
    `with offer as (
       select app_id, pricing_plans.id from pricing_plans join apps on apps.id = app_id where slug = 'northwind-scribe' limit 1
     ), subscribers as (
       select id from organisations where alias like 'practice-%' order by alias limit $2
     ), chosen as (
       insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, cancelled_at, revision)
       select mint_uuid(), subscribers.id, app_id, offer.id, 'cancelled', $4, now(), now(), $3 from subscribers, offer
       returning id
     ), recorded as (
       insert into events (id, event, subscription_id, sequence, occurred_at, payload)
       select mint_uuid(), 'subscription.paused', chosen.id, n, $4::timestamptz + (n - 1) * interval '1 minute', '{}'
       from chosen, generate_series(1, $3::integer) n
       returning id, subscription_id, sequence, occurred_at
     ), pinged as (
       insert into events (id, event, vendor_id, occurred_at, payload)
       select mint_uuid(), 'ping', (select vendor_id from webhook_endpoints where id = $1),
         $4::timestamptz + (n - 1) * interval '1 minute', '{}'
       from generate_series(1, $5::integer) n
       returning id, null::uuid as subscription_id, null::integer as sequence, occurred_at
     )
     insert into deliveries (id, event_id, recipient_id, subscription_id, sequence, status, attempts, created_at, settled_at)
     select mint_uuid(), id, $1, subscription_id, sequence, 'delivered', 1, occurred_at, occurred_at
     from (select * from recorded union all select * from pinged) history`,
    endpointId,
    history.subscriptions,
    history.perSubscription,
    firstAt,
    history.pings ?? 0,
  );
  return endpointId;
}
