import type { ReactNode } from "react";
import { formatTime } from "../format.ts";
import type { PageContext } from "../page-data.ts";
import { texts } from "../texts.ts";

const t = texts.site;

export interface LayoutProps {
  context: PageContext;
  title: string;
  description: string;
  /** Pages that aren't for search engines, such as errors, have none. */
  canonicalPath?: string;
  /** JSON for search engines. */
  jsonLd?: string;
  /** The text in the search field. */
  search?: string | undefined;
  children: ReactNode;
}

export function Layout({ context, title, description, canonicalPath, jsonLd, search, children }: LayoutProps) {
  const { assets, publicUrl, vendorsUrl, supportUrl, stale } = context;
  const canonical = canonicalPath === undefined ? undefined : `${publicUrl}${canonicalPath}`;
  return (
    <html lang={texts.language}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title === t.name ? title : `${title} – ${t.name}`}</title>
        <meta name="description" content={description} />
        {canonical === undefined ? <meta name="robots" content="noindex" /> : <link rel="canonical" href={canonical} />}
        <meta property="og:title" content={title} />
        <meta property="og:description" content={description} />
        <link rel="preload" href={assets.font} as="font" type="font/woff2" crossOrigin="anonymous" />
        <link rel="stylesheet" href={assets.styles} />
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <script src={assets.theme} />
        <script type="module" src={assets.islands} />
        {jsonLd !== undefined && <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: jsonLd }} />}
      </head>
      <body>
        <a className="skip" href="#content">
          {t.skip}
        </a>
        <Header search={search} context={context} />
        <main id="content" tabIndex={-1}>
          {stale !== undefined && (
            <p className="notice" role="status">
              {texts.stale(texts.minutes(stale.minutes), formatTime(stale.currentAt))}
            </p>
          )}
          {children}
        </main>
        <footer className="footer">
          <div className="footer-inner">
            <p>{t.footer}</p>
            {supportUrl !== undefined && (
              <p>
                <a href={supportUrl}>{t.help}</a>
              </p>
            )}
            {vendorsUrl !== undefined && (
              <p>
                <a href={vendorsUrl}>{t.vendors}</a>
              </p>
            )}
          </div>
        </footer>
      </body>
    </html>
  );
}

function Header({ search, context }: Pick<LayoutProps, "search" | "context">) {
  const { vendorsUrl } = context;
  return (
    <header className="header">
      <div className="header-inner">
        <a className="logo" href="/">
          <Logo />
          <span>{t.name}</span>
        </a>
        <form className="search" action="/apps" role="search">
          <label className="hidden" htmlFor="search">
            {t.search}
          </label>
          <input
            id="search"
            name="q"
            type="search"
            maxLength={200}
            defaultValue={search}
            placeholder={t.searchPlaceholder}
            autoComplete="off"
            data-search={t.suggestions}
          />
          <button type="submit" className="button quiet">
            {t.searchButton}
          </button>
        </form>
        <nav aria-label={t.navigation}>
          <a href="/apps">{t.allApps}</a>
          {vendorsUrl !== undefined && (
            <a className="for-vendors" href={vendorsUrl}>
              {t.vendors}
            </a>
          )}
          <a href="/console" data-signed-in={t.yourPractice}>
            {t.signIn}
          </a>
          <button type="button" className="theme-switch" data-theme-switch hidden aria-pressed={false}>
            <ThemeIcon />
            <span className="hidden">{t.darkTheme}</span>
          </button>
        </nav>
      </div>
    </header>
  );
}

const Logo = () => (
  <svg viewBox="0 0 32 32" width="32" height="32" aria-hidden="true">
    <rect width="32" height="32" rx="8" className="logo-tile" />
    <path d="M6 17h5l3-8 5 14 3-6h4" className="logo-line" />
  </svg>
);

const ThemeIcon = () => (
  <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
    <path d="M12 3a9 9 0 1 0 0 18z" fill="currentColor" />
    <circle cx="12" cy="12" r="8.5" fill="none" stroke="currentColor" strokeWidth="1.8" />
  </svg>
);

export function Breadcrumbs({ links }: { links: { href: string; text: string }[] }) {
  return (
    <nav className="breadcrumbs" aria-label={t.breadcrumbs}>
      <ol>
        {links.map(({ href, text }) => (
          <li key={href}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
