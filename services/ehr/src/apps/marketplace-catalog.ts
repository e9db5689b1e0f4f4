import { type EventApp, eventApp } from "@ehr-marketplace/contracts";
import { boundedText } from "../bounded-text.ts";
import { wireReader } from "../wire-validation.ts";
import { appFields } from "./app-fields.ts";
import { type InspectedSchema, inspectSchema } from "./inspect-schema.ts";

/** What the catalog says of an app. */
export interface CatalogApp {
  app: EventApp;
  schema: InspectedSchema;
  etag: string | null;
}

export type CatalogAnswer = { kind: "found"; found: CatalogApp } | { kind: "unchanged" } | { kind: "absent" };

export interface MarketplaceCatalog {
  /** With the ETag of the answer before, it may answer that nothing has changed. */
  fetchApp(slug: string, etag: string | null): Promise<CatalogAnswer>;
}

const mostBytes = 1_048_576;

const readApp = wireReader<EventApp & { configSchema?: unknown }>({
  ...eventApp,
  $id: "CatalogApp",
  properties: { ...eventApp.properties, configSchema: {} },
});

class CatalogFailureError extends Error {
  override readonly name = "CatalogFailureError";
}

/** Reads the marketplace's public catalog. Nothing that it answers can take long, grow large or lead elsewhere. */
export function createMarketplaceCatalog(marketplaceUrl: string, timeoutMs = 10_000): MarketplaceCatalog {
  return {
    async fetchApp(slug, etag) {
      const answer = await fetch(`${marketplaceUrl}/apps/${encodeURIComponent(slug)}`, {
        headers: {
          accept: "application/json",
          // Compressed, an ETag is another one, and a small answer may be a large one.
          "accept-encoding": "identity",
          ...(etag === null ? {} : { "if-none-match": etag }),
        },
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
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
        found: { ...read(await boundedText(answer, mostBytes), slug), etag: answer.headers.get("etag") },
      };
    },
  };
}

function read(text: string, slug: string): Omit<CatalogApp, "etag"> {
  // The body is never quoted: nobody knows what is in it.
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new CatalogFailureError("the marketplace's answer is not JSON");
  }
  const result = readApp(parsed);
  if ("wrong" in result) throw new CatalogFailureError(`the marketplace's answer is no app: ${result.wrong}`);
  const { configSchema } = result.read;
  const app = appFields(result.read);
  if (app.slug !== slug) throw new CatalogFailureError("the marketplace's answer is another app");
  return { app, schema: inspectSchema(configSchema ?? null) };
}
