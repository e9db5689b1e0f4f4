import { Stack, Text, Title } from "@mantine/core";
import { type DescribedScope, describeAccess, type ScopeGroup } from "../storefront/describe-scopes.ts";
import { texts } from "./texts.ts";

const t = texts.subscribe;

export interface AccessListProps {
  fhirScopes: string;
  purposes: Record<string, string>;
  /** Whether the app has other access too, so that nothing is said about what isn't listed. */
  isPart?: boolean;
}

/** What an app may read and write, in plain words, with the scopes a click away. */
export function AccessList({ fhirScopes, purposes, isPart = false }: AccessListProps) {
  const { reads, writes, others, scopes } = describeAccess(fhirScopes, purposes);
  return (
    <Stack gap="sm">
      {!(isPart && reads.length === 0) && <Access title={t.reads} groups={reads} none={t.readsNothing} />}
      {!(isPart && writes.length === 0) && <Access title={t.writes} groups={writes} none={t.writesNothing} />}
      {others.length > 0 && (
        <div>
          <Title order={3}>{t.others}</Title>
          <ScopeList scopes={others} />
        </div>
      )}
      {scopes.length > 0 && (
        <details>
          <summary>{t.rawScopes}</summary>
          <ul className="scopes">
            {scopes.map((scope) => (
              <li key={scope}>
                <code>{scope}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Stack>
  );
}

function Access({ title, groups, none }: { title: string; groups: ScopeGroup[]; none: string }) {
  return (
    <div>
      <Title order={3}>{title}</Title>
      {groups.length === 0 && <Text c="dimmed">{none}</Text>}
      {groups.map(({ subject, scopes }) => (
        <div key={subject}>
          <Text size="sm" c="dimmed">
            {t.accessTo(subject)}
          </Text>
          <ScopeList scopes={scopes} />
        </div>
      ))}
    </div>
  );
}

function ScopeList({ scopes }: { scopes: DescribedScope[] }) {
  return (
    <ul className="scopes">
      {scopes.map(({ scope, text, purpose }) => (
        <li key={scope}>
          {text}
          {purpose !== undefined && <span className="purpose">{purpose}</span>}
        </li>
      ))}
    </ul>
  );
}
