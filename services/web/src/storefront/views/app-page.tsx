import { describePlanPrice, describeStartingPrice } from "../describe-price.ts";
import { describeApp, writeJsonLd } from "../json-ld.ts";
import type { AppData, PageContext } from "../page-data.ts";
import { texts } from "../texts.ts";
import { AppAccess } from "./app-access.tsx";
import { AppFacts } from "./app-facts.tsx";
import { AppGallery } from "./app-gallery.tsx";
import { AppPlans } from "./app-plans.tsx";
import { AppTrust } from "./app-trust.tsx";
import { AppIcon, DateText, Markdown } from "./elements.tsx";
import { Breadcrumbs, Layout } from "./layout.tsx";

const t = texts.app;

export function AppPage({ data, context }: { data: AppData; context: PageContext }) {
  const { app, plans, categories, versions } = data;
  const category = categories.find((each) => each.category === app.category);
  const categoryLink = {
    href: `/apps?category=${encodeURIComponent(app.category)}`,
    text: category?.name ?? app.category,
  };
  return (
    <Layout
      context={context}
      title={app.name}
      description={app.summary}
      canonicalPath={`/apps/${app.slug}`}
      jsonLd={writeJsonLd(describeApp(app, plans ?? [], context.publicUrl))}
    >
      <Breadcrumbs
        links={[{ href: "/", text: texts.site.home }, { href: "/apps", text: texts.site.allApps }, categoryLink]}
      />
      <div className="app">
        <header className="app-head">
          <AppIcon url={app.iconUrl} size={72} />
          <div>
            <h1>{app.name}</h1>
            <p className="lead">{app.summary}</p>
            <p className="muted">
              {texts.card.by("")}
              <a href={`/vendors/${encodeURIComponent(app.vendor.slug)}`}>{app.vendor.name}</a>
            </p>
          </div>
        </header>
        <div className="plans-column">
          <AppPlans data={data} />
        </div>
        <div className="app-body">
          <AppGallery app={app} />
          <section aria-labelledby="about">
            <h2 id="about">{t.about}</h2>
            <Markdown text={app.description} />
          </section>
          <AppAccess app={app} />
          <AppTrust app={app} />
          <AppFacts app={app} vendor={data.vendor} category={categoryLink} />
          {versions !== undefined && versions.items.length > 0 && (
            <section aria-labelledby="versions">
              <div className="section-head">
                <h2 id="versions">{t.versions}</h2>
                <a href={`/apps/${encodeURIComponent(app.slug)}/versions`}>{t.allVersions}</a>
              </div>
              {versions.items.slice(0, 2).map(({ version, releaseNotes, publishedAt }, nth) => (
                <article className="version" key={version}>
                  <h3>
                    {version} {nth === 0 && <span className="mark">{t.current}</span>}
                  </h3>
                  <p className="muted">
                    <DateText instant={publishedAt} />
                  </p>
                  {releaseNotes === null ? <p>{t.noNotes}</p> : <Markdown text={releaseNotes} />}
                </article>
              ))}
            </section>
          )}
        </div>
      </div>
      <BuyBar data={data} />
    </Layout>
  );
}

/** On a phone, the price stays in view at the lower edge. */
function BuyBar({ data: { app, calculator } }: { data: AppData }) {
  const { amount, per } = calculator === undefined ? describeStartingPrice(app) : describePlanPrice(calculator.plan);
  return (
    <div className="buy-bar">
      <span className="price">
        <strong>{amount}</strong> {per}
      </span>
      <a className="button" href="#plans">
        {t.showPrice}
      </a>
    </div>
  );
}
