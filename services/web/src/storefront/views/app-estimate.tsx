import type { PricingPlanDto, QuoteDto } from "@ehr-marketplace/contracts";
import { describeLine } from "../describe-price.ts";
import { formatDecimal, formatMoney, formatMonth } from "../format.ts";
import type { Estimate } from "../page-data.ts";
import { texts } from "../texts.ts";

const t = texts.app;

const messages = {
  unavailable: t.estimateUnavailable,
  refused: t.estimateRefused,
  free: t.estimateFree,
  usage: t.estimateUsage,
};

/** The lines that the marketplace calculated; nothing is added up here. */
export function EstimateView({ estimate, plan }: { estimate: Estimate; plan: PricingPlanDto }) {
  if (estimate.status !== "calculated") {
    return <p className={estimate.status === "refused" ? "notice" : "muted"}>{messages[estimate.status]}</p>;
  }
  const { currency, firstMonth, fullMonth, spendLimit } = estimate.quote;
  const full = plan.trialDays > 0 ? t.fullMonthAfterTrial : t.fullMonth(formatMonth(fullMonth.month));
  return (
    <div className="estimate">
      <p className="muted small">{plan.name}</p>
      <MonthTable caption={t.firstMonth(formatMonth(firstMonth.month))} month={firstMonth} currency={currency} />
      <MonthTable caption={full} month={fullMonth} currency={currency} />
      {spendLimit && <p className="muted small">{t.limit(formatMoney(spendLimit.amount, spendLimit.currency))}</p>}
    </div>
  );
}

interface MonthTableProps {
  caption: string;
  month: QuoteDto["firstMonth"];
  currency: string;
}

function MonthTable({ caption, month, currency }: MonthTableProps) {
  return (
    <table>
      <caption>{caption}</caption>
      <thead className="hidden">
        <tr>
          <th scope="col">{t.line}</th>
          <th scope="col">{t.lineAmount}</th>
        </tr>
      </thead>
      <tbody>
        {month.lines.map((line) => (
          <tr key={`${line.description} ${line.quantity} ${String(line.unitAmount)} ${line.days}`}>
            <td>
              {describeLine(line.description)}
              <span className="muted small line-detail">
                {t.lineQuantity}: {formatDecimal(line.quantity)} × {formatMoney(line.unitAmount, currency)}
                {line.days !== null &&
                  line.intervalDays !== null &&
                  ` · ${t.lineDays}: ${t.days(line.days, line.intervalDays)}`}
              </span>
            </td>
            <td className="amount">{formatMoney(line.amount, currency)}</td>
          </tr>
        ))}
        {month.lines.length === 0 && (
          <tr>
            <td colSpan={2}>{t.nothingCharged}</td>
          </tr>
        )}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{t.total}</th>
          <td className="amount">{formatMoney(month.total, currency)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
