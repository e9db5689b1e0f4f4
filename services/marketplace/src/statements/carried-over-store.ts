import { type Kysely, sql, type Transaction } from "kysely";
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

/** What was carried over to one organisation or vendor. */
export interface PartyCarriedOver extends CarriedOver {
  id: string;
  /** The organisation's alias, or the vendor's slug. */
  name: string;
}

const names = {
  organisation: sql`(select alias from organisations where organisations.id = party_id)`,
  vendor: sql`(select slug from vendors where vendors.id = party_id)`,
};

/** What was next carried over to a month, by organisation or vendor and currency. */
export async function findCarriedOverByParty(
  database: Kysely<DB>,
  month: Month,
  party: Party,
  { after, limit }: { after: PartyCarriedOver | undefined; limit: number },
): Promise<PartyCarriedOver[]> {
  const isLater = sql`(party_id, currency) > (${after?.id}, ${after?.currency})`;
  const { rows } = await sql<Omit<PartyCarriedOver, "amount"> & { amount: string }>`
    select party_id as id, ${names[party]} as name, currency, amount::text from carried_over
    where month = ${firstDay(month)}::date and party = ${party} and ${after === undefined ? sql`true` : isLater}
    order by party_id, currency limit ${limit}`.execute(database);
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
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
