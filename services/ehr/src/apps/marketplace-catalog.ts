import { isSandboxSlug } from "@ehr-marketplace/contracts";
import { readBoundedText } from "../read-bounded-text.ts";
import { type InspectedSchema, inspectSchema } from "./inspect-schema.ts";
import type { ParseApp, ParsedApp } from "./parse-app.ts";
import { hasCode, MarketplaceResponseError, requestAsSubscriber, type SandboxAccess } from "./request-as-subscriber.ts";

/** An app in the marketplace's catalog. */
export interface CatalogApp extends ParsedApp {
  schema: InspectedSchema;
  etag: string | null;
}

export type CatalogResponse = { kind: "found"; found: CatalogApp } | { kind: "unchanged" } | { kind: "absent" };

export interface MarketplaceCatalog {
  /** Returns `unchanged` if the app still has the given ETag. */
  fetchApp(slug: string, etag: string | null, options?: CatalogRequestOptions): Promise<CatalogResponse>;
}

export interface CatalogRequestOptions {
  /** Whether caches between the services must not respond: the app has just changed. */
  bypassesCaches?: boolean;
  signal?: AbortSignal | undefined;
}

const maxResponseBytes = 1_048_576;

/**
 * Reads the marketplace's public catalog, and sandbox apps with this service's token; without credentials there are none. Responses are
 * bounded in time and size, and redirects are not followed.
 */
export function createMarketplaceCatalog(
  marketplaceUrl: string,
  {
    parseApp,
    sandbox,
    timeoutMs = 10_000,
  }: { parseApp: ParseApp; sandbox?: SandboxAccess | undefined; timeoutMs?: number },
): MarketplaceCatalog {
  const request = async (
    slug: string,
    etag: string | null,
    { bypassesCaches = false, signal }: CatalogRequestOptions,
    bearer?: string,
  ): Promise<CatalogResponse> => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const collection = bearer === undefined ? "apps" : "sandbox-apps";
    const response = await fetch(`${marketplaceUrl}/${collection}/${encodeURIComponent(slug)}`, {
      headers: {
        accept: "application/json",
        // A compressed response has another ETag, and could expand beyond the size limit.
        "accept-encoding": "identity",
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(bypassesCaches ? { "cache-control": "no-cache" } : {}),
        ...(etag === null ? {} : { "if-none-match": etag }),
      },
      redirect: "error",
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (response.status === 404) {
      const code = bearer === undefined ? "app-not-found" : "sandbox-app-not-found";
      if (hasCode(await readBoundedText(response, maxResponseBytes), code)) return { kind: "absent" };
      throw new MarketplaceResponseError(
        "the response is 404, but not the marketplace's for an unknown app; check MARKETPLACE_URL, which has to end with the API's version, as in https://marketplace.example.com/api/v1",
      );
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status === 304 && etag !== null) return { kind: "unchanged" };
      throw new MarketplaceResponseError(`the marketplace responded with ${response.status}`, response.status);
    }
    if (!/^application\/json\s*(;|$)/i.test(response.headers.get("content-type") ?? "")) {
      await response.body?.cancel();
      throw new MarketplaceResponseError("the marketplace's response is not JSON");
    }
    return {
      kind: "found",
      found: {
        ...parseCatalogApp(await readBoundedText(response, maxResponseBytes), slug, parseApp),
        etag: response.headers.get("etag"),
      },
    };
  };

  return {
    async fetchApp(slug, etag, options = {}) {
      if (!isSandboxSlug(slug)) return request(slug, etag, options);
      if (sandbox === undefined) return { kind: "absent" };
      return requestAsSubscriber<CatalogResponse>(sandbox, slug, (bearer) => request(slug, etag, options, bearer));
    },
  };
}

function parseCatalogApp(text: string, slug: string, parseApp: ParseApp): Omit<CatalogApp, "etag"> {
  // Error messages never quote the body, which could contain anything.
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new MarketplaceResponseError("the marketplace's response is not JSON");
  }
  const result = parseApp(parsed);
  if ("error" in result)
    throw new MarketplaceResponseError(`the marketplace's response is not a valid app: ${result.error}`);
  if (result.app.slug !== slug) throw new MarketplaceResponseError("the marketplace's response is another app");
  return { ...result, schema: inspectSchema((parsed as { configSchema?: unknown }).configSchema ?? null) };
}
