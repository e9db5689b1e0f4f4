import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import type { Month } from "../billing/month.ts";
import type { DB } from "../database-schema.ts";
import type { ChargedLine, CurrencyTotal } from "./charged-line.ts";
import { firstDay } from "./statement-month-store.ts";

/** The tables of closed months and of open ones have the same columns. */
export type Ledger = "closed" | "open";
const linesOf = (ledger: Ledger): RawBuilder<unknown> => sql.table(`${ledger}_lines`);

type Row = Omit<ChargedLine, "amount" | "unitAmount"> & { amount: string; unitAmount: string };

const parseRate = (text: string): number | string => (text.includes(".") ? text : Number(text));

const toLine = ({ amount, unitAmount, ...row }: Row): ChargedLine => ({
  ...row,
  unitAmount: parseRate(unitAmount),
  amount: BigInt(amount),
});

const columns = sql`
  lines.subscription_id as "subscriptionId", lines.organisation_id as "organisationId", organisations.alias as "orgAlias",
  lines.vendor_id as "vendorId", lines.app_id as "appId", apps.slug as "appSlug", lines.app_name as "appName", lines.currency,
  lines.number, lines.description, lines.quantity, lines.unit_amount as "unitAmount", lines.days,
  lines.interval_days as "intervalDays", lines.amount::text, to_char(lines.adjusts, 'YYYY-MM') as adjusts,
  lines.credit_id as "creditId"`;
const joined = (ledger: Ledger): RawBuilder<unknown> => sql`
  ${linesOf(ledger)} as lines join organisations on organisations.id = lines.organisation_id join apps on apps.id = lines.app_id`;

const linesPerStatement = 2_000;

/** In slices, so that none is a large text to write and to parse at once. */
export async function insertLines(
  transaction: Transaction<DB>,
  ledger: Ledger,
  month: Month,
  lines: readonly ChargedLine[],
): Promise<void> {
  for (let start = 0; start < lines.length; start += linesPerStatement) {
    await insertSlice(transaction, ledger, month, lines.slice(start, start + linesPerStatement));
  }
}

async function insertSlice(
  transaction: Transaction<DB>,
  ledger: Ledger,
  month: Month,
  lines: readonly ChargedLine[],
): Promise<void> {
  const rows = JSON.stringify(
    lines.map(({ amount, adjusts, ...line }) => ({
      ...line,
      amount: String(amount),
      adjusts: adjusts === null ? null : firstDay(adjusts),
    })),
  );
  await sql`
    insert into ${linesOf(ledger)} (month, subscription_id, number, organisation_id, vendor_id, app_id, app_name, currency,
      description, quantity, unit_amount, days, interval_days, amount, adjusts, credit_id)
    select ${firstDay(month)}::date, "subscriptionId", number, "organisationId", "vendorId", "appId", "appName", currency,
      description, quantity, "unitAmount", days, "intervalDays", amount, adjusts, "creditId"
    from json_to_recordset(${rows}::json) as given(
      "subscriptionId" uuid, number smallint, "organisationId" uuid, "vendorId" uuid, "appId" uuid, "appName" text, currency text,
      description text, quantity text, "unitAmount" text, days smallint, "intervalDays" smallint, amount numeric, adjusts date, "creditId" uuid
    )`.execute(transaction);
}

export async function deleteOpenLines(
  transaction: Transaction<DB>,
  month: Month,
  range: { after: string | null; last: string },
): Promise<void> {
  await sql`
    delete from open_lines where month = ${firstDay(month)}::date and subscription_id <= ${range.last}
      and subscription_id > coalesce(${range.after}::uuid, '00000000-0000-0000-0000-000000000000')`.execute(
    transaction,
  );
}

/** What the subscriptions were charged for a month, with the corrections in later ones. A credit is no charge of its month. */
export async function findCharged(
  database: Kysely<DB>,
  subscriptionIds: readonly string[],
  month: Month,
): Promise<Map<string, bigint>> {
  const day = firstDay(month);
  const { rows } = await sql<{ id: string; amount: string }>`
    select subscription_id as id, sum(amount)::text as amount from closed_lines
    where subscription_id = any (${[...subscriptionIds]}::uuid[])
      and month in (${day}::date, (${day}::date + interval '1 month')::date, (${day}::date + interval '2 months')::date)
      and coalesce(adjusts, month) = ${day}::date and credit_id is null
    group by subscription_id`.execute(database);
  return new Map(rows.map(({ id, amount }) => [id, BigInt(amount)]));
}

/** An organisation's lines of a closed month. */
export async function findLinesOf(database: Kysely<DB>, month: Month, organisationId: string): Promise<ChargedLine[]> {
  const { rows } = await sql<Row>`
    select ${columns} from ${joined("closed")}
    where lines.month = ${firstDay(month)}::date and lines.organisation_id = ${organisationId}
    order by lines.currency, lines.subscription_id, lines.number`.execute(database);
  return rows.map(toLine);
}

/** An organisation's totals of closed months. */
export async function findTotalsOf(
  database: Kysely<DB>,
  months: readonly Month[],
  organisationId: string,
): Promise<(CurrencyTotal & { month: Month })[]> {
  const { rows } = await sql<{ month: Month; currency: string; total: string }>`
    select to_char(month, 'YYYY-MM') as month, currency, sum(amount)::text as total from closed_lines
    where month = any (${months.map(firstDay)}::date[]) and organisation_id = ${organisationId}
    group by closed_lines.month, currency order by closed_lines.month, currency`.execute(database);
  return rows.map((row) => ({ ...row, total: BigInt(row.total) }));
}

/** The next lines of a month, those of an organisation and a currency together. */
export async function findLinesByOrganisation(
  database: Kysely<DB>,
  ledger: Ledger,
  month: Month,
  { after, limit }: { after: ChargedLine | undefined; limit: number },
): Promise<ChargedLine[]> {
  const isLater = sql`(lines.organisation_id, lines.currency, lines.subscription_id, lines.number)
    > (${after?.organisationId}, ${after?.currency}, ${after?.subscriptionId}, ${after?.number})`;
  const { rows } = await sql<Row>`
    select ${columns} from ${joined(ledger)}
    where lines.month = ${firstDay(month)}::date and ${after === undefined ? sql`true` : isLater}
    order by lines.organisation_id, lines.currency, lines.subscription_id, lines.number limit ${limit}`.execute(
    database,
  );
  return rows.map(toLine);
}

/** The next lines of a vendor in a month. */
export async function findLinesByVendor(
  database: Kysely<DB>,
  ledger: Ledger,
  month: Month,
  { vendorId, after, limit }: { vendorId: string; after: ChargedLine | undefined; limit: number },
): Promise<ChargedLine[]> {
  const isLater = sql`(lines.subscription_id, lines.number) > (${after?.subscriptionId}, ${after?.number})`;
  const { rows } = await sql<Row>`
    select ${columns} from ${joined(ledger)}
    where lines.month = ${firstDay(month)}::date and lines.vendor_id = ${vendorId} and ${after === undefined ? sql`true` : isLater}
    order by lines.subscription_id, lines.number limit ${limit}`.execute(database);
  return rows.map(toLine);
}
