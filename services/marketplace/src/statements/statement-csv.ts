import type { StatementLine } from "@ehr-marketplace/contracts";
import { type CsvColumn, csvHeader, csvLine } from "./csv.ts";

/** A line of an organisation's or a vendor's statement. The commission belongs to no subscription. */
export interface CsvRow extends Omit<StatementLine, "subscriptionId" | "appSlug" | "appName" | "unitAmount"> {
  month: string;
  status: string;
  orgAlias: string | null;
  subscriptionId: string | null;
  appSlug: string | null;
  appName: string | null;
  unitAmount: number | string | null;
}

const columns: CsvColumn<CsvRow>[] = [
  { name: "month", valueOf: ({ month }) => month },
  { name: "status", valueOf: ({ status }) => status },
  { name: "orgAlias", isText: true, valueOf: ({ orgAlias }) => orgAlias },
  { name: "subscriptionId", valueOf: ({ subscriptionId }) => subscriptionId },
  { name: "appSlug", isText: true, valueOf: ({ appSlug }) => appSlug },
  { name: "appName", isText: true, valueOf: ({ appName }) => appName },
  { name: "description", isText: true, valueOf: ({ description }) => description },
  { name: "quantity", valueOf: ({ quantity }) => quantity },
  { name: "unitAmount", valueOf: ({ unitAmount }) => unitAmount },
  { name: "days", valueOf: ({ days }) => days },
  { name: "intervalDays", valueOf: ({ intervalDays }) => intervalDays },
  { name: "amount", valueOf: ({ amount }) => amount },
  { name: "currency", valueOf: ({ currency }) => currency },
  { name: "adjusts", valueOf: ({ adjusts }) => adjusts },
  { name: "creditId", valueOf: ({ creditId }) => creditId },
];

type Head = Pick<CsvRow, "month" | "status" | "orgAlias">;

/** A row that belongs to no subscription. */
export const rowOf = (
  head: Head,
  row: Pick<CsvRow, "description" | "amount" | "currency"> & Partial<CsvRow>,
): CsvRow => ({
  subscriptionId: null,
  appSlug: null,
  appName: null,
  quantity: "1",
  unitAmount: null,
  days: null,
  intervalDays: null,
  adjusts: null,
  creditId: null,
  ...head,
  ...row,
});

/** So that the amounts of a currency add up to what is due, or to what is carried over once more. */
export const carriedOverRows = (balances: readonly { currency: string; carriedOver: bigint }[], head: Head): CsvRow[] =>
  balances
    .filter(({ carriedOver }) => carriedOver !== 0n)
    .map(({ currency, carriedOver }) =>
      rowOf(head, { description: "Carried over from the month before", amount: carriedOver, currency }),
    );

export const statementCsvHeader = csvHeader(columns);
export const toCsv = (rows: readonly CsvRow[]): string => rows.map((row) => csvLine(columns, row)).join("");
