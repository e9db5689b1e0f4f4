import type { AppDto } from "@ehr-marketplace/contracts";
import { formatDate, formatList } from "../format.ts";
import { texts } from "../texts.ts";
import { ExternalLink, Fact } from "./elements.tsx";

const t = texts.app;

type Trust = NonNullable<AppDto["trust"]>;

export function AppTrust({ app }: { app: AppDto }) {
  const { trust, baaAvailable, baaRequired, baaUrl } = app;
  const baa = baaRequired ? t.baaRequired : baaAvailable ? t.baaAvailable : t.baaNone;
  return (
    <section aria-labelledby="trust">
      <h2 id="trust">{t.trust}</h2>
      <dl className="facts">
        <Fact term={t.baa}>
          {baa}
          {baaUrl !== null && (
            <>
              . <ExternalLink href={baaUrl}>{t.baaRead}</ExternalLink>
            </>
          )}
        </Fact>
        {trust !== null && <TrustFacts trust={trust} />}
      </dl>
      {trust === null && <p className="muted">{t.trustNone}</p>}
    </section>
  );
}

function TrustFacts({ trust: { certifications = [], dataHandling = {}, accessibility, ai } }: { trust: Trust }) {
  const { regions, retentionDays, deletionDays, subprocessors, phiInLogs, trainsOnData } = dataHandling;
  const days = (count: number | undefined) => (count === undefined ? null : t.dayCount(count));
  const yesOrNo = (value: boolean | undefined) => (value === undefined ? null : value ? t.yes : t.no);
  const list = (items: string[] | undefined) => (items === undefined || items.length === 0 ? null : formatList(items));
  return (
    <>
      {certifications.map(({ kind, validUntil, evidenceUrl, verifiedBy }) => (
        <Fact key={kind} term={t.certification(kind, formatDate(validUntil))}>
          {verifiedBy === "operator" ? <span className="positive">{t.verified}</span> : t.unverified}
          {evidenceUrl !== undefined && (
            <>
              . <ExternalLink href={evidenceUrl}>{t.evidence}</ExternalLink>
            </>
          )}
        </Fact>
      ))}
      <Fact term={t.regions}>{list(regions)}</Fact>
      <Fact term={t.retention}>{days(retentionDays)}</Fact>
      <Fact term={t.deletion}>{days(deletionDays)}</Fact>
      <Fact term={t.subprocessors}>{list(subprocessors)}</Fact>
      <Fact term={t.phiInLogs}>{yesOrNo(phiInLogs)}</Fact>
      <Fact term={t.trainsOnData}>{yesOrNo(trainsOnData)}</Fact>
      {accessibility !== undefined && (
        <Fact term={t.accessibility}>
          {accessibility.standard}
          {accessibility.reportDate !== undefined && `, ${t.accessibilityReport(formatDate(accessibility.reportDate))}`}
          {accessibility.reportUrl !== undefined && (
            <>
              . <ExternalLink href={accessibility.reportUrl}>{t.accessibilityRead}</ExternalLink>
            </>
          )}
        </Fact>
      )}
      {ai !== undefined && (
        <Fact term={t.ai}>
          {t.aiKinds[ai.kind ?? ""] ?? ai.kind}{" "}
          {ai.modelCard !== undefined && <ExternalLink href={ai.modelCard}>{t.modelCard}</ExternalLink>}
        </Fact>
      )}
    </>
  );
}
