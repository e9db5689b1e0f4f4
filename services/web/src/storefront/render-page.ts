import { createRepresentation, type Representation } from "@ehr-marketplace/service-kit/http";
import { LRUCache } from "lru-cache";
import type { Reading } from "../catalog/catalog-client.ts";
import type { PageContext } from "./page-data.ts";

export interface RenderOptions {
  publicUrl: string;
  vendorsUrl: string | undefined;
  supportUrl: string | undefined;
  headers: Record<string, string>;
  assets: PageContext["assets"];
  clock: () => Date;
}

export interface PageRequest {
  /** The page's path and query in their normal form. */
  path: string;
  /** What the page is made of. While all of it stays the same, the page does. */
  readings: (Reading<unknown> | undefined)[];
  write: (context: PageContext) => string;
}

interface CachedPage {
  inputs: unknown[];
  representation: Representation;
}

const maxCachedBytes = 32 * 1_048_576;
const cacheControl = "public, max-age=60, stale-while-revalidate=300, stale-if-error=86400";
/** So that caches soon notice that the marketplace is back. */
const staleCacheControl = "public, max-age=5";

/** Renders pages, and caches them until the data that they show changes. */
export function createPageRenderer({ publicUrl, vendorsUrl, supportUrl, headers, assets, clock }: RenderOptions) {
  const { "content-type": contentType = "", ...otherHeaders } = headers;
  const cached = new LRUCache<string, CachedPage>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ representation }, key) => Math.ceil(representation.plain.body.length * 1.5) + key.length + 500,
  });
  return ({ path, readings, write }: PageRequest): Representation => {
    const stale = findStale(readings, clock());
    const inputs = [...readings.map((reading) => reading?.data), stale?.minutes];
    const known = cached.get(path);
    if (known !== undefined && isSame(known.inputs, inputs)) return known.representation;
    const representation = createRepresentation(write({ assets, publicUrl, vendorsUrl, supportUrl, path, stale }), {
      contentType,
      cacheControl: stale === undefined ? cacheControl : staleCacheControl,
      headers: otherHeaders,
    });
    cached.set(path, { inputs, representation });
    return representation;
  };
}

const isSame = (one: unknown[], other: unknown[]): boolean =>
  one.length === other.length && one.every((value, nth) => value === other[nth]);

/** The age of the oldest data that the marketplace couldn't confirm. */
function findStale(readings: PageRequest["readings"], now: Date): PageContext["stale"] {
  const times = readings
    .filter((reading) => reading?.isStale === true)
    .map((reading) => reading?.currentAt.getTime() ?? 0);
  if (times.length === 0) return undefined;
  const currentAt = new Date(Math.min(...times));
  return { minutes: Math.floor((now.getTime() - currentAt.getTime()) / 60_000), currentAt };
}
