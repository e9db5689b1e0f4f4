import type { EventApp } from "@ehr-marketplace/contracts";
import { readBoundedText } from "../read-bounded-text.ts";
import { type InspectedSchema, inspectSchema } from "./inspect-schema.ts";
import type { ParseApp } from "./parse-app.ts";

/** An app in the marketplace's catalog. */
export interface CatalogApp {
  app: EventApp;
  schema: InspectedSchema;
  etag: string | null;
}

export type CatalogResponse = { kind: "found"; found: CatalogApp } | { kind: "unchanged" } | { kind: "absent" };

export interface MarketplaceCatalog {
  /** Returns `unchanged` if the app still has the given ETag. */
  fetchApp(slug: string, etag: string | null, signal?: AbortSignal): Promise<CatalogResponse>;
}

const maxResponseBytes = 1_048_576;

class CatalogResponseError extends Error {
  override readonly name = "CatalogResponseError";
}

/** Reads the marketplace's public catalog. Responses are bounded in time and size, and redirects are not followed. */
export function createMarketplaceCatalog(
  marketplaceUrl: string,
  { parseApp, timeoutMs = 10_000 }: { parseApp: ParseApp; timeoutMs?: number },
): MarketplaceCatalog {
  return {
    async fetchApp(slug, etag, signal) {
      const timeout = AbortSignal.timeout(timeoutMs);
      const response = await fetch(`${marketplaceUrl}/apps/${encodeURIComponent(slug)}`, {
        headers: {
          accept: "application/json",
          // A compressed response has another ETag, and could expand beyond the size limit.
          "accept-encoding": "identity",
          ...(etag === null ? {} : { "if-none-match": etag }),
        },
        redirect: "error",
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      if (response.status === 404) {
        if (hasCodeAppNotFound(await readBoundedText(response, maxResponseBytes))) return { kind: "absent" };
        throw new CatalogResponseError(
          "the response is 404, but not the marketplace's for an unknown app; check MARKETPLACE_URL, which has to end with the API's version, as in https://marketplace.example.com/api/v1",
        );
      }
      if (response.status !== 200) {
        await response.body?.cancel();
        if (response.status === 304 && etag !== null) return { kind: "unchanged" };
        throw new CatalogResponseError(`the marketplace responded with ${response.status}`);
      }
      if (!/^application\/json\s*(;|$)/i.test(response.headers.get("content-type") ?? "")) {
        await response.body?.cancel();
        throw new CatalogResponseError("the marketplace's response is not JSON");
      }
      return {
        kind: "found",
        found: {
          ...parseCatalogApp(await readBoundedText(response, maxResponseBytes), slug, parseApp),
          etag: response.headers.get("etag"),
        },
      };
    },
  };
}

/** Other servers, and wrong paths at the marketplace, also respond with 404. Taken as absent, they would quarantine every app. */
function hasCodeAppNotFound(text: string): boolean {
  try {
    return (Object(JSON.parse(text)) as { code?: unknown }).code === "app-not-found";
  } catch {
    return false;
  }
}

function parseCatalogApp(text: string, slug: string, parseApp: ParseApp): Omit<CatalogApp, "etag"> {
  // Error messages never quote the body, which could contain anything.
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new CatalogResponseError("the marketplace's response is not JSON");
  }
  const result = parseApp(parsed);
  if ("error" in result)
    throw new CatalogResponseError(`the marketplace's response is not a valid app: ${result.error}`);
  if (result.app.slug !== slug) throw new CatalogResponseError("the marketplace's response is another app");
  return { app: result.app, schema: inspectSchema((parsed as { configSchema?: unknown }).configSchema ?? null) };
}
