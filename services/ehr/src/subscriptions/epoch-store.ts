import type { MarketplaceEpoch } from "@ehr-marketplace/contracts";
import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";

export interface NumberedEpoch extends MarketplaceEpoch {
  /** How many epochs this service has seen before. */
  number: number;
}

export async function selectEpoch(database: Kysely<DB>): Promise<NumberedEpoch | undefined> {
  const row = await database
    .selectFrom("marketplace_epoch")
    .select(["system", "timeline", "position", "number"])
    .executeTakeFirst();
  return row && { ...row, timeline: Number(row.timeline), position: BigInt(row.position) };
}

const wire = ({ system, timeline, position }: MarketplaceEpoch) => ({ system, timeline, position: String(position) });

/** Changes nothing if an epoch is stored. */
export async function insertFirstEpoch(database: Kysely<DB>, epoch: MarketplaceEpoch, now: Date): Promise<void> {
  await database
    .insertInto("marketplace_epoch")
    .values({ ...wire(epoch), since: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns false if the stored epoch has another number. */
export async function advanceEpoch(database: Kysely<DB>, number: number, position: bigint): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("marketplace_epoch")
    .set({ position: sql`greatest(position, ${String(position)}::numeric)` })
    .where("number", "=", number)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns false if the stored epoch has another number. */
export async function replaceEpoch(
  database: Kysely<DB>,
  number: number,
  next: MarketplaceEpoch,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("marketplace_epoch")
    .set({ ...wire(next), number: number + 1, since: now })
    .where("number", "=", number)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
