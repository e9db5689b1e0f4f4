import type { PageContext, ResultsData } from "../page-data.ts";
import { resultsPath } from "../results-path.ts";
import { texts } from "../texts.ts";
import { AppCards } from "./app-card.tsx";
import { CategoryLinks } from "./home-page.tsx";
import { Breadcrumbs, Layout } from "./layout.tsx";

const t = texts.results;

export function ResultsPage({ data, context }: { data: ResultsData; context: PageContext }) {
  const { query, total, categories } = data;
  const category = categories.find((each) => each.category === query.category);
  const title = query.q === undefined ? (category?.name ?? data.vendor?.name ?? t.title) : t.titleFor(query.q);
  return (
    <Layout
      context={context}
      title={title}
      description={category?.description ?? t.description}
      // Searches have no end, and are pages for people only.
      {...(query.q === undefined && { canonicalPath: resultsPath(query) })}
      search={query.q}
    >
      <Breadcrumbs links={[{ href: "/", text: texts.site.home }]} />
      <h1>{title}</h1>
      {query.q === undefined && category !== undefined && <p className="lead">{category.description}</p>}
      <div className="results">
        <Filters data={data} />
        <section aria-labelledby="found">
          <div className="section-head">
            <h2 id="found">{total === 0 ? describeNoMatch(data) : t.count(total)}</h2>
            {query.q !== undefined && total > 0 && <p className="muted">{t.byRelevance}</p>}
          </div>
          {data.corrected !== undefined && total > 0 && (
            <p className="notice">{t.corrected(data.corrected, query.q ?? "")}</p>
          )}
          {total === 0 ? <NoMatch data={data} /> : <AppCards apps={data.apps} />}
          <Pagination data={data} />
        </section>
      </div>
    </Layout>
  );
}

function Filters({ data: { query, categories, vendor } }: { data: ResultsData }) {
  const hasFilters = [query.q, query.category, query.vendor, query.sort].some((value) => value !== undefined);
  return (
    <form className="filters" action="/apps" aria-label={t.filters}>
      {query.q !== undefined && <input type="hidden" name="q" value={query.q} />}
      {vendor !== undefined && <input type="hidden" name="vendor" value={vendor.slug} />}
      {vendor !== undefined && <p>{t.vendor(vendor.name)}</p>}
      <label>
        {t.category}
        <select name="category" defaultValue={query.category ?? ""}>
          <option value="">{t.allCategories}</option>
          {categories.map(({ category, name, appCount }) => (
            <option key={category} value={category}>{`${name} (${appCount})`}</option>
          ))}
        </select>
      </label>
      {query.q === undefined && (
        <label>
          {t.sort}
          <select name="sort" defaultValue={query.sort ?? "popularity,desc"}>
            {Object.entries(t.sorts).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <button type="submit" className="button">
        {t.apply}
      </button>
      {hasFilters && <a href="/apps">{t.clear}</a>}
    </form>
  );
}

function describeNoMatch({ query, categories }: ResultsData): string {
  const category = categories.find((each) => each.category === query.category);
  return query.q === undefined ? t.noneWithFilters : t.noneFor(query.q, category?.name);
}

function NoMatch({ data: { query, elsewhere, popular, categories } }: { data: ResultsData }) {
  return (
    <div className="no-match">
      {elsewhere.length > 0 ? (
        <>
          <p>{t.elsewhere}</p>
          <ul className="chips">
            {elsewhere.map(({ category: other, count }) => (
              <li key={other.category}>
                <a href={resultsPath({ q: query.q, category: other.category, page: 1 })}>
                  {other.name} <span className="count">{count}</span>
                </a>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <>
          <p>{t.advice}</p>
          <h3>{t.browse}</h3>
          <CategoryLinks categories={categories} />
        </>
      )}
      <p>
        <a className="button quiet" href="/apps">
          {texts.home.all}
        </a>
      </p>
      {popular.length > 0 && (
        <>
          <h3 className="spaced">{t.popular}</h3>
          <AppCards apps={popular} />
        </>
      )}
    </div>
  );
}

function Pagination({ data: { query, pages } }: { data: ResultsData }) {
  const { page } = query;
  if (pages <= 1) return null;
  return (
    <nav className="pagination" aria-label={t.pages}>
      {page > 1 && (
        <a className="button quiet" rel="prev" href={resultsPath({ ...query, page: page - 1 })}>
          {t.previous}
        </a>
      )}
      <span>{t.page(page, pages)}</span>
      {page < pages && (
        <a className="button quiet" rel="next" href={resultsPath({ ...query, page: page + 1 })}>
          {t.next}
        </a>
      )}
    </nav>
  );
}
