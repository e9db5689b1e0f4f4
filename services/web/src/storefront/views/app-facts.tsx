import type { AppDto, VendorProfile } from "@ehr-marketplace/contracts";
import { texts } from "../texts.ts";
import { ContactLink, DateText, ExternalLink, Fact } from "./elements.tsx";

const t = texts.app;

interface AppFactsProps {
  app: AppDto;
  vendor: VendorProfile | undefined;
  category: { href: string; text: string };
}

export function AppFacts({ app, vendor, category }: AppFactsProps) {
  const link = (url: string | null) => (url === null ? null : <ExternalLink href={url}>{shorten(url)}</ExternalLink>);
  return (
    <section aria-labelledby="facts">
      <h2 id="facts">{t.facts}</h2>
      <dl className="facts">
        <Fact term={t.vendor}>
          <a href={`/vendors/${encodeURIComponent(app.vendor.slug)}`}>{app.vendor.name}</a>
        </Fact>
        <Fact term={t.category}>
          <a href={category.href}>{category.text}</a>
        </Fact>
        <Fact term={t.audience}>{app.audience === null ? null : t.audiences[app.audience]}</Fact>
        <Fact term={t.version}>{app.version}</Fact>
        <Fact term={t.updated}>
          <DateText instant={app.updatedAt} />
        </Fact>
        <Fact term={t.published}>
          <DateText instant={app.publishedAt} />
        </Fact>
        <Fact term={t.website}>{link(app.websiteUrl)}</Fact>
        <Fact term={t.support}>{link(app.supportUrl)}</Fact>
        <VendorContacts vendor={vendor} />
        <Fact term={t.privacy}>{link(app.privacyPolicyUrl)}</Fact>
        <Fact term={t.terms}>{link(app.termsUrl)}</Fact>
      </dl>
    </section>
  );
}

export function VendorContacts({ vendor }: { vendor: VendorProfile | undefined }) {
  const { supportEmail = null, securityContact = null } = vendor ?? {};
  return (
    <>
      <Fact term={t.supportEmail}>{supportEmail === null ? null : <ContactLink contact={supportEmail} />}</Fact>
      <Fact term={t.security}>{securityContact === null ? null : <ContactLink contact={securityContact} />}</Fact>
    </>
  );
}

/** A URL without its scheme, as people read it. */
export const shorten = (url: string): string => url.replace(/^https?:\/\//, "").replace(/\/$/, "");
