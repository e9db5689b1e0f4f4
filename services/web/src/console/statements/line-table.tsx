import type { StatementLine } from "@ehr-marketplace/client/marketplace";
import { Table, Text, Title } from "@mantine/core";
import { useId } from "react";
import { formatDecimal, formatMoney, formatMonth } from "../../storefront/format.ts";
import { texts } from "../texts.ts";
import { type CurrencyLines, describeCharge, describeDue } from "./group-lines.ts";

const t = texts.statement;
const columns = Object.keys(t.columns).length;

/** The lines of one currency, by app. The total is the API's. */
export function LineTable({ group: { currency, total, carriedOver, due, apps } }: { group: CurrencyLines }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <Title order={2} id={id} mb="sm">
        {t.inCurrency(currency)}
      </Title>
      <Table className="rows lines" verticalSpacing="xs">
        <Table.Caption className="hidden">{t.caption(currency)}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t.columns.what}</Table.Th>
            <Table.Th scope="col" className="amount">
              {t.columns.quantity}
            </Table.Th>
            <Table.Th scope="col" className="amount">
              {t.columns.price}
            </Table.Th>
            <Table.Th scope="col">{t.columns.days}</Table.Th>
            <Table.Th scope="col" className="amount">
              {t.columns.amount}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        {apps.map(({ appSlug, appName, lines }) => (
          <Table.Tbody key={appSlug}>
            <Table.Tr className="group">
              <Table.Th colSpan={columns} scope="rowgroup">
                {appName}
              </Table.Th>
            </Table.Tr>
            {lines.map((line, index) => (
              // oxlint-disable-next-line react/no-array-index-key -- a statement's lines have no other key, and don't move
              <Line key={index} line={line} />
            ))}
          </Table.Tbody>
        ))}
        <Table.Tfoot>
          <Table.Tr>
            <Table.Th colSpan={columns - 1} scope="row">
              {t.totalIn(currency)}
            </Table.Th>
            <Table.Td className="amount">
              <strong>{formatMoney(total, currency)}</strong>
            </Table.Td>
          </Table.Tr>
          {carriedOver !== 0 && <Sum name={t.carriedOver} amount={formatMoney(carriedOver, currency)} />}
          {due !== total && <Sum name={t.due} amount={describeDue({ currency, total, carriedOver, due })} />}
        </Table.Tfoot>
      </Table>
    </section>
  );
}

function Sum({ name, amount }: { name: string; amount: string }) {
  return (
    <Table.Tr>
      <Table.Th colSpan={columns - 1} scope="row">
        {name}
      </Table.Th>
      <Table.Td className="amount">{amount}</Table.Td>
    </Table.Tr>
  );
}

function Line({ line }: { line: StatementLine }) {
  const { currency, quantity, unitAmount, days, intervalDays, amount, adjusts, creditId } = line;
  return (
    <Table.Tr>
      <Table.Td data-label={t.columns.what}>
        <div>
          {describeCharge(line)}
          {adjusts !== null && (
            <Text size="xs" c="dimmed">
              {amount < 0 && `${t.credit}. `}
              {t.correction(formatMonth(adjusts))}
            </Text>
          )}
          {creditId !== null && (
            <Text size="xs" c="dimmed">
              {t.creditText}
            </Text>
          )}
        </div>
      </Table.Td>
      <Table.Td data-label={t.columns.quantity} className="amount">
        {formatDecimal(quantity)}
      </Table.Td>
      <Table.Td data-label={t.columns.price} className="amount">
        {formatMoney(unitAmount, currency)}
      </Table.Td>
      <Table.Td data-label={t.columns.days}>
        {days === null || intervalDays === null
          ? adjusts === null && creditId === null
            ? t.byUsage
            : "–"
          : t.days(days, intervalDays)}
      </Table.Td>
      <Table.Td data-label={t.columns.amount} className="amount">
        {formatMoney(amount, currency)}
      </Table.Td>
    </Table.Tr>
  );
}
