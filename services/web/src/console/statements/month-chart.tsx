import { Text } from "@mantine/core";
import { formatMoney, formatMonth, formatShortMonth } from "../../storefront/format.ts";
import { texts } from "../texts.ts";
import { layOutBars, type Series } from "./month-series.ts";

const t = texts.statements;
const size = { width: 360, height: 180 };
const area = { left: 0, top: 24, width: size.width, height: 128 };

/** The totals of one currency by month. The table beside it has the same figures, and says more. */
export function MonthChart({ currency, months }: Series) {
  const totals = months.map(({ total }) => total);
  const { bars, zero } = layOutBars(totals, area);
  const [first, last] = [months[0], months.at(-1)];
  if (first === undefined || last === undefined) return null;
  const label = t.chartLabel(currency, formatMonth(first.month), formatMonth(last.month));
  return (
    <figure className="chart card">
      <Text component="figcaption" size="sm" fw={600}>
        {t.chart(currency)}
      </Text>
      <svg viewBox={`0 0 ${size.width} ${size.height}`} role="img" aria-label={label}>
        <text x={0} y={14} className="chart-label">
          {formatMoney(Math.max(...totals), currency)}
        </text>
        {months.map(({ month, total, isOpen }, index) => {
          const { x = 0, y = 0, width = 0, height = 0 } = bars[index] ?? {};
          return (
            <g key={month}>
              <rect x={x} y={y} width={width} height={height} rx={2} className={isOpen ? "bar open" : "bar"}>
                <title>{t.bar(formatMonth(month), formatMoney(total, currency))}</title>
              </rect>
              <text x={x + width / 2} y={size.height - 8} textAnchor="middle" className="chart-label">
                {formatShortMonth(month)}
              </text>
            </g>
          );
        })}
        <line x1={0} x2={size.width} y1={zero} y2={zero} className="chart-axis" />
      </svg>
      {months.some(({ isOpen, total }) => isOpen && total !== 0) && (
        <Text size="xs" c="dimmed">
          {t.chartOpen}
        </Text>
      )}
    </figure>
  );
}
