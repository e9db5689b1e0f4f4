import { randomUUID } from "node:crypto";
import type { Practice } from "@ehr-marketplace/dev/practices";
import { recordEvent } from "@ehr-marketplace/marketplace/record-event";
import { connectDatabase, createNotifier, type Database } from "@ehr-marketplace/service-kit/database";
import { type Queue, startQueue } from "@ehr-marketplace/service-kit/queue";
import { createLogger, startTracing } from "@ehr-marketplace/service-kit/telemetry";
import { withClient } from "@ehr-marketplace/test-kit";

export interface EventSource {
  /** Subscribes the practice and records its event; returns the delivery's id and when the commit was sent. */
  record(practice: Practice, app?: BenchApp): Promise<{ id: string; committedAt: number }>;
  stop(): Promise<void>;
}

export interface BenchApp {
  id: string;
  vendor_id: string;
  plan_id: string;
  slug: string;
}

export async function listBenchApps(ownerUrl: string, limit: number): Promise<BenchApp[]> {
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<BenchApp>(
      `select distinct on (apps.id) apps.id, vendor_id, slug, plan.id as plan_id
       from apps join pricing_plans plan on app_id = apps.id limit $1`,
      [limit],
    ),
  );
  return rows;
}

export async function createEventSource(serviceUrl: string, ownerUrl: string): Promise<EventSource> {
  const logger = createLogger({ service: "bench", level: "warn" });
  const tracing = await startTracing("bench", undefined);
  const options = { url: serviceUrl, service: "bench", statementTimeoutMs: 10_000, logger };
  const database: Database<Record<string, never>> = connectDatabase({ ...options, poolSize: 30, tracing });
  const queue: Queue = await startQueue({ ...options, supervisesJobs: false });
  const workers = createNotifier({ pool: database.pool, channel: "deliveries_queued", logger });
  const [first] = await listBenchApps(ownerUrl, 1);
  if (first === undefined) throw new Error("no app is published");

  return {
    async record(practice, app = first) {
      const subscription = randomUUID();
      const now = new Date();
      let committedAt = 0;
      let id = "";
      await database.query.transaction().execute(async (transaction) => {
        const client = transaction as unknown as Parameters<typeof recordEvent>[0];
        await client
          .insertInto("subscriptions")
          .values({
            id: subscription,
            organisation_id: practice.id,
            app_id: app.id,
            pricing_plan_id: app.plan_id,
            status: "active",
            fhir_scopes: "",
            created_at: now,
            updated_at: now,
            revision: 1,
          })
          .execute();
        await recordEvent(client, queue, {
          event: "subscription.created",
          app: {
            id: app.id,
            slug: app.slug,
            name: "Bench",
            iconUrl: "https://bench.example/icon.svg",
            category: "DOCUMENTATION",
            extensionPoints: [],
            smartLaunchUrl: null,
            fhirScopes: "",
          },
          subscription: { id: subscription, status: "active", orgAlias: practice.alias },
          pauseReason: null,
          organisationId: practice.id,
          vendorId: app.vendor_id,
          sequence: 1,
          occurredAt: now,
        });
        const delivery = await client
          .selectFrom("deliveries")
          .select("id")
          .where("recipient_id", "=", practice.id)
          .where("subscription_id", "=", subscription)
          // The condition allows the partial index on unsettled deliveries; a scan of a million rows would distort the measurement.
          .where("settled_at", "is", null)
          .executeTakeFirstOrThrow();
        id = delivery.id;
        committedAt = performance.timeOrigin + performance.now();
      });
      workers.notify();
      return { id, committedAt };
    },
    async stop() {
      await workers.stop();
      await queue.stop();
      await database.query.destroy();
    },
  };
}
