import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

export async function insertAppliedDelivery(
  transaction: Transaction<DB>,
  orgAlias: string,
  deliveryId: string,
  at: Date,
): Promise<void> {
  await transaction
    .insertInto("applied_deliveries")
    .values({ org_alias: orgAlias, delivery_id: deliveryId, applied_at: at })
    .onConflict((conflict) => conflict.columns(["org_alias", "delivery_id"]).doNothing())
    .execute();
}

export async function isAppliedDelivery(database: Kysely<DB>, orgAlias: string, deliveryId: string): Promise<boolean> {
  const found = await database
    .selectFrom("applied_deliveries")
    .select("applied_at")
    .where("org_alias", "=", orgAlias)
    .where("delivery_id", "=", deliveryId)
    .executeTakeFirst();
  return found !== undefined;
}

export async function deleteAppliedBefore(database: Kysely<DB>, before: Date): Promise<void> {
  await database.deleteFrom("applied_deliveries").where("applied_at", "<", before).execute();
}
