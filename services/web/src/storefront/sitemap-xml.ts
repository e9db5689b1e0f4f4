import { createRepresentation, type Representation } from "@ehr-marketplace/service-kit/http";

export interface SitemapEntry {
  path: string;
  changedAt?: string;
}

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const declaration = '<?xml version="1.0" encoding="UTF-8"?>';
const namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

const toRepresentation = (xml: string): Representation =>
  createRepresentation(xml, { contentType: "application/xml; charset=utf-8", cacheControl: "public, max-age=3600" });

/** How many sitemaps list so many apps; an index names them if there is more than one. */
export const countSitemaps = (apps: number, appsPerSitemap: number): number =>
  Math.max(1, Math.ceil(apps / appsPerSitemap));

export function writeSitemap(publicUrl: string, entries: SitemapEntry[]): Representation {
  const urls = entries.map(({ path, changedAt }) => {
    const changed = changedAt === undefined ? "" : `<lastmod>${escapeXml(changedAt)}</lastmod>`;
    return `<url><loc>${escapeXml(publicUrl + path)}</loc>${changed}</url>`;
  });
  return toRepresentation(`${declaration}\n<urlset ${namespace}>${urls.join("\n")}</urlset>\n`);
}

/** Names the sitemaps `/sitemaps/1.xml` to `/sitemaps/{sitemaps}.xml`. */
export function writeSitemapIndex(publicUrl: string, sitemaps: number): Representation {
  const urls = Array.from(
    { length: sitemaps },
    (_, nth) => `<sitemap><loc>${escapeXml(`${publicUrl}/sitemaps/${nth + 1}.xml`)}</loc></sitemap>`,
  );
  return toRepresentation(`${declaration}\n<sitemapindex ${namespace}>${urls.join("\n")}</sitemapindex>\n`);
}
