import { type Kysely, sql, type Transaction } from "kysely";
import type { Month } from "../billing/month.ts";
import type { DB } from "../database-schema.ts";
import type { Ledger } from "./line-store.ts";
import { firstDay } from "./statement-month-store.ts";

const tableOf = (ledger: Ledger, name: "lines" | "totals" | "commissions") => sql.table(`${ledger}_${name}`);

/**
 * Adds up a vendor's lines, by app, charges and credits apart, and the commission on the total, which PostgreSQL rounds half away from zero. Corrections are added up
 * by the month that they correct. The percentage is what was charged for that month, and otherwise that of its start.
 */
export async function insertTotals(
  transaction: Transaction<DB>,
  ledger: Ledger,
  month: Month,
  vendorId: string,
): Promise<void> {
  const day = firstDay(month);
  await sql`
    insert into ${tableOf(ledger, "totals")} (month, vendor_id, app_id, currency, charges, is_credit, app_name, subscriptions, amount)
    select month, vendor_id, app_id, currency, coalesce(adjusts, month), credit_id is not null, max(app_name), count(distinct subscription_id), sum(amount)
    from ${tableOf(ledger, "lines")} where month = ${day}::date and vendor_id = ${vendorId}
    group by month, vendor_id, app_id, currency, coalesce(adjusts, month), credit_id is not null`.execute(transaction);
  await sql`
    insert into ${tableOf(ledger, "commissions")} (month, vendor_id, currency, charges, gross, commission_percent, commission)
    select month, vendor_id, currency, charges, gross, percent, round(gross * percent / 100)
    from (
      select month, vendor_id, currency, charges, sum(amount) as gross from ${tableOf(ledger, "totals")}
      where month = ${day}::date and vendor_id = ${vendorId} group by month, vendor_id, currency, charges
    ) earned join vendors on vendors.id = vendor_id
    cross join lateral (
      select coalesce((
        select charged.commission_percent from closed_commissions charged
        where charged.vendor_id = earned.vendor_id and charged.charges = earned.charges and charged.month < earned.month
          and charged.month in (
            earned.charges, (earned.charges + interval '1 month')::date, (earned.charges + interval '2 months')::date
          )
        order by charged.month limit 1
      ), (
        select ended.commission_percent from ended_commissions ended
        where ended.vendor_id = earned.vendor_id and ended.ended_at > earned.charges::timestamp at time zone 'UTC'
        order by ended.ended_at limit 1
      ), vendors.commission_percent) as percent
    ) rates`.execute(transaction);
}

export async function deleteOpenTotals(transaction: Transaction<DB>, month: Month, vendorId: string): Promise<void> {
  for (const table of ["open_totals", "open_commissions"]) {
    await sql`
      delete from ${sql.table(table)} where month = ${firstDay(month)}::date and vendor_id = ${vendorId}`.execute(
      transaction,
    );
  }
}

/** What was calculated of months that are closed by now. Returns how many lines were deleted. */
export async function deleteClosedFromOpen(database: Kysely<DB>, closed: Month, limit: number): Promise<number> {
  const day = firstDay(closed);
  for (const table of ["open_totals", "open_commissions"]) {
    await sql`delete from ${sql.table(table)} where month <= ${day}::date`.execute(database);
  }
  const { numAffectedRows } = await sql`
    delete from open_lines where ctid = any (array(
      select ctid from open_lines where month <= ${day}::date limit ${limit}
    ))`.execute(database);
  return Number(numAffectedRows ?? 0);
}

export interface AppTotal {
  currency: string;
  /** The earlier month that is corrected. */
  adjusts: Month | null;
  /** Whether it is what was credited. */
  isCredit: boolean;
  appSlug: string;
  appName: string;
  subscriptions: number;
  amount: bigint;
}

const adjusts = sql`case when charges < month then to_char(charges, 'YYYY-MM') end as adjusts`;

/** By currency and app. */
export async function findAppTotals(
  database: Kysely<DB>,
  ledger: Ledger,
  month: Month,
  vendorId: string,
): Promise<AppTotal[]> {
  const { rows } = await sql<Omit<AppTotal, "amount"> & { amount: string }>`
    select currency, ${adjusts}, is_credit as "isCredit", apps.slug as "appSlug", app_name as "appName", subscriptions, amount::text
    from ${tableOf(ledger, "totals")} as totals join apps on apps.id = app_id
    where month = ${firstDay(month)}::date and totals.vendor_id = ${vendorId}
    order by currency, charges desc, apps.slug, is_credit`.execute(database);
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

export interface Commission {
  currency: string;
  /** The earlier month that is corrected. */
  adjusts: Month | null;
  gross: bigint;
  commissionPercent: number;
  commission: bigint;
}

type CommissionRow = {
  currency: string;
  adjusts: Month | null;
  gross: string;
  commissionPercent: number;
  commission: string;
};
const commissionColumns = sql`
  currency, ${adjusts}, gross::text, commissions.commission_percent::float8 as "commissionPercent", commission::text`;
const toCommission = <Row extends CommissionRow>({ gross, commission, ...row }: Row) => ({
  ...row,
  gross: BigInt(gross),
  commission: BigInt(commission),
});

/** A vendor's commissions in some months, by currency, those of corrections last. */
export async function findCommissionsOf(
  database: Kysely<DB>,
  ledger: Ledger,
  months: readonly Month[],
  vendorId: string,
): Promise<(Commission & { month: Month })[]> {
  const { rows } = await sql<CommissionRow & { month: Month }>`
    select to_char(month, 'YYYY-MM') as month, ${commissionColumns} from ${tableOf(ledger, "commissions")} as commissions
    where month = any (${months.map(firstDay)}::date[]) and vendor_id = ${vendorId}
    order by commissions.month, currency, charges desc`.execute(database);
  return rows.map(toCommission);
}

export interface VendorCommission extends Commission {
  vendorId: string;
  vendor: string;
}

/** The next commissions of a month, by vendor, currency and charged month. */
export async function findCommissions(
  database: Kysely<DB>,
  ledger: Ledger,
  month: Month,
  { after, limit }: { after: VendorCommission | undefined; limit: number },
): Promise<VendorCommission[]> {
  const charged = firstDay(after?.adjusts ?? month);
  const isLater = sql`(vendor_id, currency, charges) > (${after?.vendorId}, ${after?.currency}, ${charged}::date)`;
  const { rows } = await sql<CommissionRow & { vendorId: string; vendor: string }>`
    select vendor_id as "vendorId", vendors.slug as vendor, ${commissionColumns}
    from ${tableOf(ledger, "commissions")} as commissions join vendors on vendors.id = vendor_id
    where month = ${firstDay(month)}::date and ${after === undefined ? sql`true` : isLater}
    order by vendor_id, currency, charges limit ${limit}`.execute(database);
  return rows.map(toCommission);
}
