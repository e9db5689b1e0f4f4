import type { AuditEntry, ListedSubscriptionDto, PricingPlanDto } from "@ehr-marketplace/client/marketplace";
import { Anchor, Table, Text } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { Fragment, useId, useState } from "react";
import { formatTime } from "../../storefront/format.ts";
import { pricingQuery } from "../api/catalog-queries.ts";
import { TextLink } from "../shell/links.tsx";
import { texts } from "../texts.ts";
import { describeEntry, type Known, listChangedApps } from "./describe-entry.ts";

const t = texts.audit;
const columns = Object.entries(t.columns);

export interface AuditTableProps {
  alias: string;
  entries: AuditEntry[];
  subscriptions: ListedSubscriptionDto[];
}

/** Entries in plain words. What exactly was stored is a click away. */
export function AuditTable({ alias, entries, subscriptions }: AuditTableProps) {
  const known = { subscriptions, plans: usePlans(entries) };
  return (
    <Table className="rows audit" verticalSpacing="xs">
      <Table.Caption className="hidden">{t.caption}</Table.Caption>
      <Table.Thead>
        <Table.Tr>
          {columns.map(([key, label]) => (
            <Table.Th key={key} scope="col" className={key === "details" ? "no-print" : undefined}>
              {label}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {entries.map((entry) => (
          <Entry key={entry.id} alias={alias} entry={entry} known={known} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Plans on sale of the apps whose plan was changed. */
function usePlans(entries: AuditEntry[]): PricingPlanDto[] {
  return useQueries({
    queries: listChangedApps(entries).map(pricingQuery),
    combine: (results) => results.flatMap(({ data = [] }) => data),
  });
}

interface EntryProps {
  alias: string;
  entry: AuditEntry;
  known: Known;
}

function Entry({ alias, entry, known }: EntryProps) {
  const [isOpen, setIsOpen] = useState(false);
  const detailsId = useId();
  const { what, why, who, about, subscriptionId } = describeEntry(entry, known);
  const isListed = known.subscriptions.some(({ id }) => id === subscriptionId);
  return (
    <Fragment>
      <Table.Tr>
        <Table.Td data-label={t.columns.at}>
          <time dateTime={entry.at}>{formatTime(new Date(entry.at))}</time>
        </Table.Td>
        <Table.Td data-label={t.columns.what}>
          <div>
            <Text fw={600} inherit>
              {what}
            </Text>
            {why !== undefined && (
              <Text size="xs" c="dimmed">
                {why}
              </Text>
            )}
          </div>
        </Table.Td>
        <Table.Td data-label={t.columns.about} className="entered">
          {subscriptionId !== undefined && isListed ? (
            <TextLink to="/practice/$alias/subscriptions" params={{ alias }} search={{ open: subscriptionId }} inherit>
              {about}
            </TextLink>
          ) : (
            about
          )}
        </Table.Td>
        <Table.Td data-label={t.columns.who}>
          <div className="entered">
            {who}
            <Text size="xs" c="dimmed">
              {entry.actor.subject}
            </Text>
          </div>
        </Table.Td>
        <Table.Td data-label={t.columns.details} className="no-print">
          <Anchor
            component="button"
            type="button"
            inherit
            aria-expanded={isOpen}
            aria-controls={isOpen ? detailsId : undefined}
            aria-label={t.detailsOf(isOpen ? t.hide : t.details, what)}
            onClick={() => setIsOpen(!isOpen)}
          >
            {isOpen ? t.hide : t.details}
          </Anchor>
        </Table.Td>
      </Table.Tr>
      {isOpen && (
        <Table.Tr>
          <Table.Td colSpan={columns.length} className="entry-details" id={detailsId}>
            <Details entry={entry} />
          </Table.Td>
        </Table.Tr>
      )}
    </Fragment>
  );
}

function Details({ entry }: { entry: AuditEntry }) {
  const { id, action, actor, target, requestId, before, after } = entry;
  const facts: [string, string][] = [
    [t.rawAction, action],
    [t.targetId, target.id],
    [t.subject, `${actor.subject} (${actor.issuer})`],
    [t.role, actor.role],
    [t.requestId, requestId],
    [t.entryId, id],
  ];
  return (
    <div>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{value}</code>
            </dd>
          </Fragment>
        ))}
      </dl>
      <State title={t.before} state={before} />
      <State title={t.after} state={after} />
    </div>
  );
}

function State({ title, state }: { title: string; state: AuditEntry["before"] }) {
  return (
    <>
      <Text size="sm" fw={600} mt="sm">
        {title}
      </Text>
      {state === null ? <Text size="sm">{t.nothing}</Text> : <pre>{JSON.stringify(state, null, 2)}</pre>}
    </>
  );
}
