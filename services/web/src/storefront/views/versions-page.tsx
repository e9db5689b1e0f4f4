import type { PageContext, VersionsData } from "../page-data.ts";
import { texts } from "../texts.ts";
import { DateText, Markdown } from "./elements.tsx";
import { Breadcrumbs, Layout } from "./layout.tsx";

const t = texts.versions;

export function VersionsPage({ data, context }: { data: VersionsData; context: PageContext }) {
  const { app, versions, isFirstPage } = data;
  const path = `/apps/${encodeURIComponent(app.slug)}`;
  return (
    <Layout
      context={context}
      title={t.title(app.name)}
      description={app.summary}
      {...(isFirstPage && { canonicalPath: `${path}/versions` })}
    >
      <Breadcrumbs
        links={[
          { href: "/", text: texts.site.home },
          { href: "/apps", text: texts.site.allApps },
          { href: path, text: app.name },
        ]}
      />
      <h1>{t.title(app.name)}</h1>
      {versions.items.map(({ version, releaseNotes, publishedAt }, nth) => (
        <article className="version" key={`${version} ${publishedAt}`}>
          <h2>
            {version} {isFirstPage && nth === 0 && <span className="mark">{texts.app.current}</span>}
          </h2>
          <p className="muted">
            <DateText instant={publishedAt} />
          </p>
          {releaseNotes === null ? <p>{texts.app.noNotes}</p> : <Markdown text={releaseNotes} />}
        </article>
      ))}
      <nav className="pagination" aria-label={texts.results.pages}>
        {!isFirstPage && (
          <a className="button quiet" href={`${path}/versions`}>
            {t.newest}
          </a>
        )}
        {versions.next !== null && (
          <a className="button quiet" href={`${path}/versions?after=${encodeURIComponent(versions.next)}`}>
            {t.older}
          </a>
        )}
        <a href={path}>{t.back(app.name)}</a>
      </nav>
    </Layout>
  );
}
