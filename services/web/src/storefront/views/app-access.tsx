import type { AppDto } from "@ehr-marketplace/contracts";
import { type DescribedScope, describeAccess } from "../describe-scopes.ts";
import { texts } from "../texts.ts";

const t = texts.app;

export function AppAccess({ app: { fhirScopes, scopePurposes } }: { app: AppDto }) {
  const { reads, writes, others, scopes } = describeAccess(fhirScopes, scopePurposes);
  return (
    <section aria-labelledby="access">
      <h2 id="access">{t.access}</h2>
      <div className="access">
        <ScopeList title={t.reads} scopes={reads} none={t.readsNothing} />
        <ScopeList title={t.writes} scopes={writes} none={t.writesNothing} />
        {others.length > 0 && <ScopeList title={t.otherAccess} scopes={others} none="" />}
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

function ScopeList({ title, scopes, none }: { title: string; scopes: DescribedScope[]; none: string }) {
  return (
    <div>
      <h3>{title}</h3>
      {scopes.length === 0 && <p className="muted">{none}</p>}
      <ul className="plain">
        {scopes.map(({ scope, text, purpose }) => (
          <li key={scope}>
            {text}
            {purpose !== undefined && (
              <span className="muted small purpose">
                {t.purpose} {purpose}
              </span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
