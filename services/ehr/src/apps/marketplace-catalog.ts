import type { EventApp } from "@ehr-marketplace/contracts";
import { boundedText } from "../bounded-text.ts";
import { type InspectedSchema, inspectSchema } from "./inspect-schema.ts";
import type { ReadApp } from "./read-app.ts";

/** What the catalog says of an app. */
export interface CatalogApp {
  app: EventApp;
  schema: InspectedSchema;
  etag: string | null;
}

export type CatalogAnswer = { kind: "found"; found: CatalogApp } | { kind: "unchanged" } | { kind: "absent" };

export interface MarketplaceCatalog {
  /** With the ETag of the response before, it may say that nothing has changed. */
  fetchApp(slug: string, etag: string | null, signal?: AbortSignal): Promise<CatalogAnswer>;
}

const maxBytes = 1_048_576;

class CatalogFailureError extends Error {
  override readonly name = "CatalogFailureError";
}

/** Reads the marketplace's public catalog. Responses are bounded in time and size, and redirects are not followed. */
export function createMarketplaceCatalog(
  marketplaceUrl: string,
  { readApp, timeoutMs = 10_000 }: { readApp: ReadApp; timeoutMs?: number },
): MarketplaceCatalog {
  return {
    async fetchApp(slug, etag, signal) {
      const timeout = AbortSignal.timeout(timeoutMs);
      const answer = await fetch(`${marketplaceUrl}/apps/${encodeURIComponent(slug)}`, {
        headers: {
          accept: "application/json",
          // Compressed, an ETag is another one, and a small answer may be a large one.
          "accept-encoding": "identity",
          ...(etag === null ? {} : { "if-none-match": etag }),
        },
        redirect: "error",
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      if (answer.status !== 200) {
        await answer.body?.cancel();
        if (answer.status === 304 && etag !== null) return { kind: "unchanged" };
        if (answer.status === 404) return { kind: "absent" };
        throw new CatalogFailureError(`the marketplace answers ${answer.status}`);
      }
      if (!/^application\/json\s*(;|$)/i.test(answer.headers.get("content-type") ?? "")) {
        await answer.body?.cancel();
        throw new CatalogFailureError("the marketplace's answer is not JSON");
      }
      return {
        kind: "found",
        found: { ...read(await boundedText(answer, maxBytes), slug, readApp), etag: answer.headers.get("etag") },
      };
    },
  };
}

function read(text: string, slug: string, readApp: ReadApp): Omit<CatalogApp, "etag"> {
  // The body is never quoted: nobody knows what is in it.
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new CatalogFailureError("the marketplace's answer is not JSON");
  }
  const result = readApp(parsed);
  if ("wrong" in result) throw new CatalogFailureError(`the marketplace's answer is no app: ${result.wrong}`);
  if (result.app.slug !== slug) throw new CatalogFailureError("the marketplace's answer is another app");
  return { app: result.app, schema: inspectSchema((parsed as { configSchema?: unknown }).configSchema ?? null) };
}
