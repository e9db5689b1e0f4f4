import type { QuoteDto } from "@ehr-marketplace/client/marketplace";
import { Table, Text } from "@mantine/core";
import { describeLine } from "../../storefront/describe-price.ts";
import { formatDecimal, formatMoney, formatMonth } from "../../storefront/format.ts";
import { texts as storefront } from "../../storefront/texts.ts";
import { texts } from "../texts.ts";

type QuotedMonth = QuoteDto["firstMonth"];

/** The lines that the marketplace calculated; nothing is added up here. */
export function MonthTable({ caption, month, currency }: { caption: string; month: QuotedMonth; currency: string }) {
  const t = storefront.app;
  return (
    <Table captionSide="top" verticalSpacing={6} horizontalSpacing={0} className="quote">
      <Table.Caption>{caption}</Table.Caption>
      <Table.Tbody>
        {month.lines.map((line, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- lines have no other key, and don't move
          <Table.Tr key={index}>
            <Table.Td>
              {line.amount < 0 ? line.description : describeLine(line.description)}
              <Text size="xs" c="dimmed">
                {line.amount < 0
                  ? texts.statement.credit
                  : `${formatDecimal(line.quantity)} × ${formatMoney(line.unitAmount, currency)}`}
                {line.days !== null &&
                  line.intervalDays !== null &&
                  ` · ${t.lineDays}: ${t.days(line.days, line.intervalDays)}`}
              </Text>
            </Table.Td>
            <Table.Td className="amount">{formatMoney(line.amount, currency)}</Table.Td>
          </Table.Tr>
        ))}
        {month.lines.length === 0 && (
          <Table.Tr>
            <Table.Td colSpan={2}>{texts.subscribe.nothing}</Table.Td>
          </Table.Tr>
        )}
      </Table.Tbody>
      <Table.Tfoot>
        <Table.Tr>
          <Table.Th scope="row">{texts.subscribe.total}</Table.Th>
          <Table.Td className="amount">
            <strong>{formatMoney(month.total, currency)}</strong>
          </Table.Td>
        </Table.Tr>
      </Table.Tfoot>
    </Table>
  );
}

/** A plan with usage begins with a limit. */
export function FirstLimit({ quote: { spendLimit } }: { quote: QuoteDto }) {
  if (!spendLimit) return null;
  return <Text size="sm">{texts.subscribe.limit(formatMoney(spendLimit.amount, spendLimit.currency))}</Text>;
}

export function QuoteView({ quote, hasTrial }: { quote: QuoteDto; hasTrial: boolean }) {
  const t = texts.subscribe;
  const { currency, firstMonth, fullMonth } = quote;
  const full = hasTrial ? t.fullAfterTrial : t.full(formatMonth(fullMonth.month));
  return (
    <>
      <MonthTable caption={t.first(formatMonth(firstMonth.month))} month={firstMonth} currency={currency} />
      <MonthTable caption={full} month={fullMonth} currency={currency} />
      <FirstLimit quote={quote} />
    </>
  );
}
