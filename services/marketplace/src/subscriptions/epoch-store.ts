import type { MarketplaceEpoch } from "@ehr-marketplace/contracts";
import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";

/**
 * A dump that is restored has other tables, a base backup another timeline. Of copied files only the position is another: the durable end of
 * the WAL, so that it doesn't go back after a crash. Undefined on a standby, whose lists may lag.
 */
export async function findEpoch(database: Kysely<DB>): Promise<MarketplaceEpoch | undefined> {
  const { rows } = await sql<{ system: string; timeline: string; position: string }>`
    select left(encode(sha256(convert_to(concat_ws('.', system_identifier, current_oid, 'subscriptions'::regclass::oid), 'UTF8')), 'hex'), 16)
        as system,
      ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::bigint as timeline, lsn - '0/0' as position
    from pg_control_system(),
      (select oid as current_oid from pg_database where datname = current_database()) here,
      (select case when not pg_is_in_recovery() then pg_current_wal_flush_lsn() end as lsn) written
    where lsn is not null`.execute(database);
  const [found] = rows;
  return found && { system: found.system, timeline: Number(found.timeline), position: BigInt(found.position) };
}
