import { deferRows, executeDeferred, executePrepared } from "@ehr-marketplace/service-kit/database";
import { type Insertable, type Kysely, sql, type Transaction } from "kysely";
import type { DB, Events } from "../database-schema.ts";

export async function insertEvent(database: Transaction<DB>, event: Insertable<Events>): Promise<void> {
  // Always the same columns, so that there is one prepared statement. A ping has no subscription.
  const statement = database
    .insertInto("events")
    .values({ subscription_id: null, sequence: null, sandbox: false, ...event });
  await executeDeferred(database, "insert-event", statement);
}

export async function insertEvents(database: Transaction<DB>, events: Insertable<Events>[]): Promise<void> {
  const rows = JSON.stringify(events);
  const statement = sql`
    insert into events (id, event, vendor_id, subscription_id, sequence, occurred_at, payload, sandbox)
    select id, event, vendor_id, subscription_id, sequence, occurred_at, payload, sandbox
    from json_to_recordset(${rows}::json) as recorded(id uuid, event text, vendor_id uuid, subscription_id uuid,
      sequence integer, occurred_at timestamptz, payload text, sandbox boolean)`;
  await executeDeferred(database, "insert-events", statement);
}

export async function findEventTime(
  database: Kysely<DB>,
  subscriptionId: string,
  sequence: number,
): Promise<Date | undefined> {
  const statement = database
    .selectFrom("events")
    .select("occurred_at")
    .where("subscription_id", "=", subscriptionId)
    .where("sequence", "=", sequence);
  const { rows } = await executePrepared(database, "find-event-time", statement);
  return rows[0]?.occurred_at;
}

/** A published app as events show it. */
export function findEventApp(database: Kysely<DB>, id: string) {
  return database
    .selectFrom("apps")
    .select([
      "id",
      "slug",
      "name",
      "icon_url as iconUrl",
      "category",
      "extension_points as extensionPoints",
      "smart_launch_url as smartLaunchUrl",
      "fhir_scopes as fhirScopes",
      "vendor_id as vendorId",
    ])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
}

/** The vendor's endpoints that named the event. They are read with the next statement. */
export async function deferRecipientsOf(
  transaction: Transaction<DB>,
  vendorId: string,
  event: string,
): Promise<() => Promise<string[]>> {
  const statement = transaction
    .selectFrom("webhook_endpoints")
    .select("id")
    .where("vendor_id", "=", vendorId)
    .where("deleted_at", "is", null)
    .where(sql<boolean>`${event} = any (events)`)
    .orderBy("created_at");
  const readRows = await deferRows(transaction, "find-recipients-of", statement);
  return async () => (await readRows()).map(({ id }) => id);
}
