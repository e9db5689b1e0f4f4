import type { AppDto, CategoryDto } from "@ehr-marketplace/contracts";
import { formatNumber } from "../format.ts";
import { describeSite, writeJsonLd } from "../json-ld.ts";
import type { HomeData, PageContext } from "../page-data.ts";
import { texts } from "../texts.ts";
import { AppCards } from "./app-card.tsx";
import { Layout } from "./layout.tsx";

const t = texts.home;

export function HomePage({ data, context }: { data: HomeData; context: PageContext }) {
  return (
    <Layout
      context={context}
      title={texts.site.name}
      description={t.description}
      canonicalPath="/"
      jsonLd={writeJsonLd(describeSite(context.publicUrl))}
    >
      <div className="hero">
        <h1>{t.title}</h1>
        <p className="lead">{t.lead}</p>
      </div>
      <section aria-labelledby="categories">
        <h2 id="categories">{t.categories}</h2>
        <CategoryLinks categories={data.categories} />
      </section>
      <AppSection id="featured" title={t.featured} apps={data.featured} more={{ href: "/apps", text: t.all }} />
      <AppSection
        id="new"
        title={t.newest}
        apps={data.newest}
        more={{ href: "/apps?sort=publishedAt%2Cdesc", text: t.moreNew }}
      />
      <AppSection
        id="popular"
        title={t.popular}
        apps={data.popular}
        more={{ href: "/apps?sort=popularity%2Cdesc", text: t.morePopular }}
      />
    </Layout>
  );
}

export function CategoryLinks({ categories }: { categories: CategoryDto[] }) {
  return (
    <ul className="chips">
      {categories
        .filter(({ appCount }) => appCount > 0)
        .map(({ category, name, appCount }) => (
          <li key={category}>
            <a href={`/apps?category=${encodeURIComponent(category)}`}>
              {name} <span className="count">{formatNumber(appCount)}</span>
            </a>
          </li>
        ))}
    </ul>
  );
}

interface AppSectionProps {
  id: string;
  title: string;
  apps: AppDto[];
  more: { href: string; text: string };
}

function AppSection({ id, title, apps, more }: AppSectionProps) {
  if (apps.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <div className="section-head">
        <h2 id={id}>{title}</h2>
        <a href={more.href}>{more.text}</a>
      </div>
      <AppCards apps={apps} marksFeatured={false} />
    </section>
  );
}
