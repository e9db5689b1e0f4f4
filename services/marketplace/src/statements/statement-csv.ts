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
];

export const statementCsvHeader = csvHeader(columns);
export const toCsv = (rows: readonly CsvRow[]): string => rows.map((row) => csvLine(columns, row)).join("");
