import type { StatementDto, StatementLine } from "@ehr-marketplace/client/marketplace";
import { describeLine } from "../../storefront/describe-price.ts";
import { formatMoney } from "../../storefront/format.ts";
import { texts } from "../texts.ts";

export interface AppLines {
  appSlug: string;
  appName: string;
  lines: StatementLine[];
}

/** What a statement has in one currency. */
export interface CurrencyLines {
  currency: string;
  /** As the API has added it up. */
  total: number;
  /** What the month before left, because its total was negative. */
  carriedOver: number;
  due: number;
  apps: AppLines[];
}

/** The lines by currency and app, in the API's order. Corrections and credits are with their app. */
export function groupLines({ totals, lines }: Pick<StatementDto, "totals" | "lines">): CurrencyLines[] {
  return totals.map(({ currency, total, carriedOver, due }) => {
    const apps = new Map<string, AppLines>();
    for (const line of lines) {
      if (line.currency !== currency) continue;
      const known = apps.get(line.appSlug) ?? { appSlug: line.appSlug, appName: line.appName, lines: [] };
      known.lines.push(line);
      apps.set(line.appSlug, known);
    }
    return { currency, total, carriedOver, due, apps: [...apps.values()] };
  });
}

/** The plan and what is charged of it. The API adds the days to it, which have a column of their own. */
export function describeCharge({
  description,
  days,
  intervalDays,
  creditId,
}: Pick<StatementLine, "description" | "days" | "intervalDays" | "creditId">): string {
  if (creditId !== null) return description;
  const suffix = `, ${days} of ${intervalDays} days`;
  return describeLine(
    days !== null && description.endsWith(suffix) ? description.slice(0, -suffix.length) : description,
  );
}

/** What is to be paid of a currency's total, and what is carried over to the next month instead. */
export function describeDue({ currency, total, carriedOver, due }: Omit<CurrencyLines, "apps">): string {
  const rest = total + carriedOver;
  return rest < 0 ? texts.statement.nothingDue(formatMoney(rest, currency)) : formatMoney(due, currency);
}
