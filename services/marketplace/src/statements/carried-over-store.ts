import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import { type Month, nextMonth } from "../billing/month.ts";
import type { DB } from "../database-schema.ts";
import type { CarriedOver } from "./balance.ts";
import { firstDay } from "./statement-month-store.ts";

type Party = "organisation" | "vendor";

/** Carries over what a closing month leaves to organisations: only those with a negative line, or with something carried over, can have that. */
export async function carryOverOrganisations(transaction: Transaction<DB>, month: Month): Promise<void> {
  const day = firstDay(month);
  await sql`
    with carried as (
      select party_id as organisation_id, currency, amount from carried_over where month = ${day}::date and party = 'organisation'
    ), candidates as (
      select organisation_id, currency from closed_lines where month = ${day}::date and amount < 0
      union select organisation_id, currency from carried
    )
    insert into carried_over (month, party, party_id, currency, amount)
    select ${firstDay(nextMonth(month))}::date, 'organisation', organisation_id, currency, sum(amount)
    from (
      select organisation_id, currency, amount from candidates
      join closed_lines using (organisation_id, currency) where month = ${day}::date
      union all select * from carried
    ) amounts
    group by organisation_id, currency having sum(amount) < 0`.execute(transaction);
}

/** The same for a vendor, whose totals are closed. */
export async function carryOverVendor(transaction: Transaction<DB>, month: Month, vendorId: string): Promise<void> {
  const day = firstDay(month);
  await sql`
    insert into carried_over (month, party, party_id, currency, amount)
    select ${firstDay(nextMonth(month))}::date, 'vendor', ${vendorId}::uuid, currency, sum(amount)
    from (
      select currency, gross - commission as amount from closed_commissions
      where month = ${day}::date and vendor_id = ${vendorId}
      union all
      select currency, amount from carried_over
      where month = ${day}::date and party = 'vendor' and party_id = ${vendorId}
    ) amounts
    group by currency having sum(amount) < 0`.execute(transaction);
}

/** What was carried over to a row's organisation or vendor, in its month and currency. */
export function carriedOverTo(alias: "lines" | "commissions", party: Party): RawBuilder<string> {
  const row = sql.raw(alias);
  return sql`coalesce((
    select carried_over.amount from carried_over
    where carried_over.month = ${row}.month and party = ${party} and party_id = ${row}.${sql.raw(`${party}_id`)}
      and carried_over.currency = ${row}.currency
  ), 0)::text`;
}

/** What was carried over to months. Nothing is to an open one while the one before it is open, too. */
export async function findCarriedOver(
  database: Kysely<DB>,
  months: readonly Month[],
  party: Party,
  partyId: string,
): Promise<(CarriedOver & { month: Month })[]> {
  const { rows } = await sql<{ month: Month; currency: string; amount: string }>`
    select to_char(month, 'YYYY-MM') as month, currency, amount::text from carried_over
    where month = any (${months.map(firstDay)}::date[]) and party = ${party} and party_id = ${partyId}
    order by currency`.execute(database);
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}
