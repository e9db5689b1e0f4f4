import { createRepresentation, type Representation } from "@ehr-marketplace/service-kit/http";
import type { Catalog } from "../catalog/catalog.ts";

/** A sitemap may have 50,000 URLs. Parts are smaller, so that one is read from the catalog within seconds. */
const appsPerPart = 5_000;
const appsPerRequest = 100;
/** New apps are added at the end, so that earlier parts stay as they are. */
const sort = "publishedAt,asc";
const cacheMs = 3_600_000;

interface Entry {
  path: string;
  changedAt?: string;
}

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const declaration = '<?xml version="1.0" encoding="UTF-8"?>';
const namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

const toRepresentation = (xml: string): Representation =>
  createRepresentation(xml, { contentType: "application/xml; charset=utf-8", cacheControl: "public, max-age=3600" });

/** The sitemap, and above 5,000 apps an index of sitemaps with as many apps each. */
export function createSitemaps(publicUrl: string, clock: () => Date) {
  const cached = new Map<string, { until: number; sitemap: Promise<Representation> }>();

  /** One request of several readers reads the catalog; a failure isn't kept. */
  const share = (key: string, write: () => Promise<Representation>): Promise<Representation> => {
    const now = clock().getTime();
    for (const [name, { until }] of cached) if (until <= now) cached.delete(name);
    const known = cached.get(key);
    if (known !== undefined) return known.sitemap;
    const sitemap = write().catch((error: unknown) => {
      cached.delete(key);
      throw error;
    });
    cached.set(key, { until: now + cacheMs, sitemap });
    return sitemap;
  };

  const locate = (path: string): string => escapeXml(`${publicUrl}${path}`);
  const writeUrls = (entries: Entry[]): Representation =>
    toRepresentation(
      `${declaration}\n<urlset ${namespace}>${entries
        .map(({ path, changedAt }) => {
          const changed = changedAt === undefined ? "" : `<lastmod>${escapeXml(changedAt)}</lastmod>`;
          return `<url><loc>${locate(path)}</loc>${changed}</url>`;
        })
        .join("\n")}</urlset>\n`,
    );
  const writeIndex = (parts: number): Representation =>
    toRepresentation(
      `${declaration}\n<sitemapindex ${namespace}>${Array.from(
        { length: parts },
        (_, nth) => `<sitemap><loc>${locate(`/sitemaps/${nth + 1}.xml`)}</loc></sitemap>`,
      ).join("\n")}</sitemapindex>\n`,
    );

  /** The apps of one part, and their vendors. */
  const readPart = async (catalog: Catalog, part: number): Promise<Entry[]> => {
    const apps: Entry[] = [];
    const vendors = new Set<string>();
    const first = (part * appsPerPart) / appsPerRequest;
    for (let page = first; page < first + appsPerPart / appsPerRequest; page += 1) {
      const reading = await catalog.listApps({ sort, page, size: appsPerRequest });
      for (const { slug, vendor, updatedAt } of reading?.data.content ?? []) {
        apps.push({ path: `/apps/${slug}`, changedAt: updatedAt });
        vendors.add(`/vendors/${vendor.slug}`);
      }
      if (reading?.data.last !== false) break;
    }
    return [...apps, ...Array.from(vendors, (path) => ({ path }))];
  };

  const countParts = async (catalog: Catalog): Promise<number> => {
    const reading = await catalog.listApps({ sort, page: 0, size: appsPerRequest });
    return Math.max(1, Math.ceil((reading?.data.totalElements ?? 0) / appsPerPart));
  };
  const site: Entry[] = [{ path: "/" }, { path: "/apps" }];

  return {
    getRoot: (catalog: Catalog): Promise<Representation> =>
      share("root", async () => {
        const parts = await countParts(catalog);
        return parts > 1 ? writeIndex(parts) : writeUrls([...site, ...(await readPart(catalog, 0))]);
      }),
    /** Undefined if there is no part with that number, from 1. */
    async getPart(catalog: Catalog, number: number): Promise<Representation | undefined> {
      const parts = await countParts(catalog);
      if (!Number.isInteger(number) || number < 1 || number > parts) return undefined;
      return share(`part ${number}`, async () =>
        writeUrls([...(number === 1 ? site : []), ...(await readPart(catalog, number - 1))]),
      );
    },
  };
}
