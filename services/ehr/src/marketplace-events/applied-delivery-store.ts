import { type Kysely, sql, type Transaction } from "kysely";
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

export async function deleteAppliedBefore(database: Kysely<DB>, before: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from applied_deliveries where ctid = any(array(
      select ctid from applied_deliveries where applied_at < ${before} order by applied_at limit ${limit}
    ))`.execute(database);
  return Number(numAffectedRows);
}
