import type { PageContext, VendorData } from "../page-data.ts";
import { texts } from "../texts.ts";
import { AppCards } from "./app-card.tsx";
import { shorten, VendorContacts } from "./app-facts.tsx";
import { ExternalLink, Fact } from "./elements.tsx";
import { Breadcrumbs, Layout } from "./layout.tsx";

const t = texts.vendor;

export function VendorPage({ data, context }: { data: VendorData; context: PageContext }) {
  const { vendor, apps, total } = data;
  return (
    <Layout
      context={context}
      title={vendor.name}
      description={t.title(vendor.name)}
      canonicalPath={`/vendors/${vendor.slug}`}
    >
      <Breadcrumbs
        links={[
          { href: "/", text: texts.site.home },
          { href: "/apps", text: texts.site.allApps },
        ]}
      />
      <h1>{vendor.name}</h1>
      <p className="lead">{t.count(vendor.appCount)}</p>
      <dl className="facts">
        <Fact term={texts.app.website}>
          {vendor.websiteUrl === null ? null : (
            <ExternalLink href={vendor.websiteUrl}>{shorten(vendor.websiteUrl)}</ExternalLink>
          )}
        </Fact>
        <VendorContacts vendor={vendor} />
      </dl>
      <section aria-labelledby="apps">
        <div className="section-head">
          <h2 id="apps">{t.title(vendor.name)}</h2>
          {total > apps.length && <a href={`/apps?vendor=${encodeURIComponent(vendor.slug)}`}>{t.all}</a>}
        </div>
        <AppCards apps={apps} />
      </section>
    </Layout>
  );
}
