import type { AppDto } from "@ehr-marketplace/contracts";
import { type DescribedScope, describeAccess, type ScopeGroup } from "../describe-scopes.ts";
import { texts } from "../texts.ts";

const t = texts.app;

export function AppAccess({ app: { fhirScopes, scopePurposes } }: { app: AppDto }) {
  const { reads, writes, others, scopes } = describeAccess(fhirScopes, scopePurposes);
  return (
    <section aria-labelledby="access">
      <h2 id="access">{t.access}</h2>
      {Object.keys(scopePurposes).length > 0 && <p className="muted access-note">{t.accessReasons}</p>}
      <div className="access">
        <Access title={t.reads} groups={reads} none={t.readsNothing} />
        <Access title={t.writes} groups={writes} none={t.writesNothing} />
        {others.length > 0 && (
          <div>
            <h3>{t.otherAccess}</h3>
            <ScopeList scopes={others} />
          </div>
        )}
      </div>
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
    </section>
  );
}

function Access({ title, groups, none }: { title: string; groups: ScopeGroup[]; none: string }) {
  return (
    <div>
      <h3>{title}</h3>
      {groups.length === 0 && <p className="muted">{none}</p>}
      {groups.map(({ subject, scopes }) => (
        <div key={subject} className="access-group">
          <p className="muted small">{t.accessTo(subject)}</p>
          <ScopeList scopes={scopes} />
        </div>
      ))}
    </div>
  );
}

function ScopeList({ scopes }: { scopes: DescribedScope[] }) {
  return (
    <ul className="plain">
      {scopes.map(({ scope, text, purpose }) => (
        <li key={scope}>
          {text}
          {purpose !== undefined && <span className="muted small purpose">{purpose}</span>}
        </li>
      ))}
    </ul>
  );
}
