import type { Representation } from "@ehr-marketplace/service-kit/http";
import type { Catalog } from "../catalog/catalog.ts";
import { countSitemaps, type SitemapEntry, writeSitemap, writeSitemapIndex } from "./sitemap-xml.ts";

export interface SitemapOptions {
  publicUrl: string;
  clock: () => Date;
  /**
   * At most 100, or a multiple of it. The format allows 50,000 URLs, of apps and as many vendors; far fewer are read from the catalog
   * within the time that a request has.
   */
  appsPerSitemap?: number;
}

const defaultAppsPerSitemap = 5_000;
const maxAppsPerRequest = 100;
/** New apps are added at the end, so that earlier sitemaps stay as they are. */
const sort = "publishedAt,asc";
const cacheMs = 3_600_000;
const site: SitemapEntry[] = [{ path: "/" }, { path: "/apps" }];

/** The sitemap, or if there are too many apps for one, an index of several. */
export function createSitemaps({ publicUrl, clock, appsPerSitemap = defaultAppsPerSitemap }: SitemapOptions) {
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

  const appsPerRequest = Math.min(maxAppsPerRequest, appsPerSitemap);
  const requestsPerSitemap = appsPerSitemap / appsPerRequest;

  /** The apps of one sitemap, numbered from 1, and their vendors. */
  const readEntries = async (catalog: Catalog, number: number): Promise<SitemapEntry[]> => {
    const apps: SitemapEntry[] = [];
    const vendors = new Set<string>();
    const first = (number - 1) * requestsPerSitemap;
    for (let page = first; page < first + requestsPerSitemap; page += 1) {
      const reading = await catalog.listApps({ sort, page, size: appsPerRequest });
      for (const { slug, vendor, updatedAt } of reading?.data.content ?? []) {
        apps.push({ path: `/apps/${slug}`, changedAt: updatedAt });
        vendors.add(`/vendors/${vendor.slug}`);
      }
      if (reading?.data.last !== false) break;
    }
    return [...(number === 1 ? site : []), ...apps, ...Array.from(vendors, (path) => ({ path }))];
  };

  const count = async (catalog: Catalog): Promise<number> => {
    const reading = await catalog.listApps({ sort, page: 0, size: appsPerRequest });
    return countSitemaps(reading?.data.totalElements ?? 0, appsPerSitemap);
  };

  return {
    getRoot: (catalog: Catalog): Promise<Representation> =>
      share("root", async () => {
        const sitemaps = await count(catalog);
        return sitemaps > 1
          ? writeSitemapIndex(publicUrl, sitemaps)
          : writeSitemap(publicUrl, await readEntries(catalog, 1));
      }),
    /** Undefined if there is no sitemap with that number, from 1. */
    async getNumbered(catalog: Catalog, number: number): Promise<Representation | undefined> {
      if (!Number.isInteger(number) || number < 1 || number > (await count(catalog))) return undefined;
      return share(`number ${number}`, async () => writeSitemap(publicUrl, await readEntries(catalog, number)));
    },
  };
}
