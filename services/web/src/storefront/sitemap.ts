import type { Representation } from "@ehr-marketplace/service-kit/http";
import { LRUCache } from "lru-cache";
import type { Catalog } from "../catalog/catalog.ts";
import { isRateLimited } from "../catalog/catalog-client.ts";
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
/** Crawlers repeat what fails. */
const failureMs = 5_000;
/** About a megabyte each. */
const maxCached = 20;
const site: SitemapEntry[] = [{ path: "/" }, { path: "/apps" }];

/** The sitemap, or if there are too many apps for one, an index of several. */
export function createSitemaps({ publicUrl, clock, appsPerSitemap = defaultAppsPerSitemap }: SitemapOptions) {
  const cached = new LRUCache<string, { until: number; result: Promise<unknown> }>({ max: maxCached });

  /** One request of several readers reads the catalog. A failure is kept for seconds; that one of them asks too often isn't, since it concerns no other. */
  const share = <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const now = clock().getTime();
    const known = cached.get(key);
    if (known !== undefined && known.until > now) {
      return (known.result as Promise<T>).catch((error: unknown) => {
        if (isRateLimited(error)) return share(key, read);
        throw error;
      });
    }
    const entry = { until: now + cacheMs, result: read() };
    cached.set(key, entry);
    return entry.result.catch((error: unknown) => {
      if (isRateLimited(error)) cached.delete(key);
      else entry.until = clock().getTime() + failureMs;
      throw error;
    });
  };

  const appsPerRequest = Math.min(maxAppsPerRequest, appsPerSitemap);
  const requestsPerSitemap = appsPerSitemap / appsPerRequest;

  /** The apps of one sitemap, numbered from 1, and their vendors. */
  const readEntries = async (catalog: Catalog, number: number): Promise<SitemapEntry[]> => {
    const apps: SitemapEntry[] = [];
    const vendors = new Set<string>();
    const first = (number - 1) * requestsPerSitemap;
    for (let page = first; page < first + requestsPerSitemap; page += 1) {
      const listed = await catalog.listAllApps({ sort, page, size: appsPerRequest });
      for (const { slug, vendor, updatedAt } of listed?.content ?? []) {
        apps.push({ path: `/apps/${slug}`, changedAt: updatedAt });
        vendors.add(`/vendors/${vendor.slug}`);
      }
      if (listed?.last !== false) break;
    }
    return [...(number === 1 ? site : []), ...apps, ...Array.from(vendors, (path) => ({ path }))];
  };

  const count = (catalog: Catalog): Promise<number> =>
    share("count", async () => {
      const first = await catalog.listAllApps({ sort, page: 0, size: 1 });
      return countSitemaps(first?.totalElements ?? 0, appsPerSitemap);
    });

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
