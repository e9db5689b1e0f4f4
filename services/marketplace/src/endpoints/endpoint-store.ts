import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from "kysely";
import type { DB, Deliveries, DeliveryAttempts, WebhookEndpoints } from "../database-schema.ts";
import { findStartOfJob, recoveries } from "../queue/queues.ts";

/** An endpoint with its recipient's status. */
export type EndpointRow = Selectable<WebhookEndpoints> & {
  status: string;
  held_since: Date | null;
  disabled_reason: string | null;
  /** When a held endpoint is probed next; null while a probe is in flight. */
  next_probe_at: Date | null;
};
export type DeliveryRow = Selectable<Deliveries> & { event: string };
export type AttemptRow = Selectable<DeliveryAttempts>;

const ofVendor = (database: Kysely<DB>, vendorSlug: string) =>
  database
    .selectFrom("webhook_endpoints")
    .innerJoin("vendors", "vendors.id", "webhook_endpoints.vendor_id")
    .innerJoin("recipients", "recipients.id", "webhook_endpoints.id")
    .selectAll("webhook_endpoints")
    .select(["recipients.status", "recipients.held_since", "recipients.disabled_reason"])
    .select(
      sql<Date | null>`case when recipients.status = 'held' then ${findStartOfJob(recoveries, sql`recipients.id`)} end`.as(
        "next_probe_at",
      ),
    )
    .where("vendors.slug", "=", vendorSlug)
    .where("webhook_endpoints.deleted_at", "is", null);

/** Serialises registrations of a vendor, so that their number is bounded. A lock on its row would make changes of the vendor wait. */
export async function lockRegistration(transaction: Transaction<DB>, vendorId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhook_endpoints of ${vendorId}`}, 0))`.execute(
    transaction,
  );
}

export async function countEndpoints(database: Kysely<DB>, vendorId: string): Promise<number> {
  const { count } = await database
    .selectFrom("webhook_endpoints")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("vendor_id", "=", vendorId)
    .where("deleted_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function insertEndpoint(transaction: Transaction<DB>, row: Insertable<WebhookEndpoints>): Promise<void> {
  await transaction.insertInto("webhook_endpoints").values(row).execute();
}

export function findEndpoint(database: Kysely<DB>, vendorSlug: string, id: string): Promise<EndpointRow | undefined> {
  return ofVendor(database, vendorSlug).where("webhook_endpoints.id", "=", id).executeTakeFirst();
}

/** Locks the endpoint's row until the transaction ends, but not its recipient's. */
export function lockEndpoint(
  transaction: Transaction<DB>,
  vendorSlug: string,
  id: string,
): Promise<EndpointRow | undefined> {
  return ofVendor(transaction, vendorSlug)
    .where("webhook_endpoints.id", "=", id)
    .forUpdate("webhook_endpoints")
    .executeTakeFirst();
}

export function findEndpoints(
  database: Kysely<DB>,
  vendorSlug: string,
  { after, limit }: PageSlice,
): Promise<EndpointRow[]> {
  let query = ofVendor(database, vendorSlug);
  if (after !== undefined) {
    query = query.where(
      sql<boolean>`(webhook_endpoints.created_at, webhook_endpoints.id) > (${after.at}::timestamptz, ${after.id}::uuid)`,
    );
  }
  return query.orderBy("webhook_endpoints.created_at").orderBy("webhook_endpoints.id").limit(limit).execute();
}

export async function updateEndpoint(
  transaction: Transaction<DB>,
  id: string,
  changes: Updateable<WebhookEndpoints>,
): Promise<void> {
  await transaction.updateTable("webhook_endpoints").set(changes).where("id", "=", id).execute();
}

const withEvent = (database: Kysely<DB>, recipientId: string) =>
  database
    .selectFrom("deliveries")
    .innerJoin("events", "events.id", "deliveries.event_id")
    .selectAll("deliveries")
    // The delivery's `subscription_id` is part of its ordering key, and null for events without a sequence.
    .select(["events.event", "events.subscription_id"])
    .where("deliveries.recipient_id", "=", recipientId);

export function findDelivery(database: Kysely<DB>, recipientId: string, id: string): Promise<DeliveryRow | undefined> {
  return withEvent(database, recipientId).where("deliveries.id", "=", id).executeTakeFirst();
}

export async function findPayload(database: Kysely<DB>, eventId: string): Promise<string> {
  const { payload } = await database
    .selectFrom("events")
    .select("payload")
    .where("id", "=", eventId)
    .executeTakeFirstOrThrow();
  return payload;
}

export interface DeliveryFilter {
  status: string | undefined;
  from: Date | undefined;
  to: Date | undefined;
}

export function findDeliveries(
  database: Kysely<DB>,
  recipientId: string,
  { status, from, to }: DeliveryFilter,
  { after, limit }: PageSlice,
): Promise<DeliveryRow[]> {
  let query = withEvent(database, recipientId);
  if (status === "waiting") {
    // Written so that only indexes by recipient match, see 0008-delivery-indexes.sql.
    query = query.where("deliveries.settled_at", "is", null).where("deliveries.status", "<>", "queued");
  } else if (status !== undefined) {
    // A literal, so that the planner can match the partial indexes of queued and failed deliveries.
    query = query.where("deliveries.status", "=", sql.lit(status));
  }
  if (from !== undefined) query = query.where("deliveries.created_at", ">=", from);
  if (to !== undefined) query = query.where("deliveries.created_at", "<", to);
  if (after !== undefined) {
    query = query.where(
      sql<boolean>`(deliveries.created_at, deliveries.id) < (${after.at}::timestamptz, ${after.id}::uuid)`,
    );
  }
  return query.orderBy("deliveries.created_at", "desc").orderBy("deliveries.id", "desc").limit(limit).execute();
}

/** `since` excludes the partitions of earlier days. */
export function findAttempts(
  database: Kysely<DB>,
  { deliveryId, since }: { deliveryId: string; since: Date },
  { after, limit }: PageSlice,
): Promise<AttemptRow[]> {
  let query = database
    .selectFrom("delivery_attempts")
    .selectAll()
    .where("delivery_id", "=", deliveryId)
    .where("started_at", ">=", since);
  if (after !== undefined) {
    query = query.where(sql<boolean>`(started_at, id) > (${after.at}::timestamptz, ${after.id}::uuid)`);
  }
  return query.orderBy("started_at").orderBy("id").limit(limit).execute();
}

/** Locks endpoints with a secret that is encrypted with another version of the key. */
export function lockEncryptedWithOtherKey(transaction: Transaction<DB>, version: number, limit: number) {
  const other = `${version}.%`;
  return transaction
    .selectFrom("webhook_endpoints")
    .select(["id", "encrypted_secret", "encrypted_next_secret"])
    .where((where) =>
      where.or([where("encrypted_secret", "not like", other), where("encrypted_next_secret", "not like", other)]),
    )
    .orderBy("id")
    .limit(limit)
    .forUpdate()
    .execute();
}
