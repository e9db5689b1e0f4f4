import { isSandboxSlug } from "@ehr-marketplace/contracts";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import type { KnownMetadata } from "./client.ts";
import { findMetadata, type MetadataRow, upsertMetadata } from "./client-metadata-store.ts";
import type { FetchClientMetadata, MetadataResponse } from "./marketplace-clients.ts";

export interface MetadataDeps {
  database: Kysely<DB>;
  clock: () => Date;
  fetchMetadata: FetchClientMetadata;
}

/** What the marketplace says, with the text to register. */
export type StoredMetadata = KnownMetadata & { text: string | null };

/** Metadata is fetched at most once a minute, however many organisations install the app; a draft's each time, since its vendor waits. */
const freshMs = 60_000;

/**
 * The app's client metadata, as the marketplace said within the last minute; with `isChanged`, as it says now. Throws if the marketplace
 * can't be reached.
 */
export async function ensureClientMetadata(
  deps: MetadataDeps,
  appSlug: string,
  isChanged = false,
): Promise<StoredMetadata> {
  const { database, clock } = deps;
  const known = await findMetadata(database, appSlug);
  const now = clock();
  const isFresh = known !== undefined && now.getTime() - known.fetched_at.getTime() < freshMs;
  if (isFresh && !isChanged && !isSandboxSlug(appSlug)) return describe(known);
  const response = await deps.fetchMetadata(appSlug, known?.outcome === "found" ? known.etag : null);
  // Not stored: it is fetched anew each time, and an operator goes on seeing what was accepted.
  if (response.kind === "refused") return { ...response, text: known?.metadata ?? null };
  const stored = toRow(response, appSlug, known, now);
  await upsertMetadata(database, stored);
  return describe(stored);
}

function toRow(
  response: Exclude<MetadataResponse, { kind: "refused" }>,
  appSlug: string,
  known: MetadataRow | undefined,
  now: Date,
): MetadataRow {
  const empty = { app_slug: appSlug, metadata: null, sha256: null, etag: null, fetched_at: now };
  if (response.kind === "found") {
    const { text: metadata, sha256 } = response.metadata;
    return { ...empty, outcome: "found", metadata, sha256, etag: response.etag };
  }
  if (response.kind === "unchanged" && known !== undefined) return { ...known, fetched_at: now };
  // What was known stays, for operators and for the time after a suspension.
  const kept = { metadata: known?.metadata ?? null, sha256: known?.sha256 ?? null };
  return { ...empty, ...kept, outcome: response.kind === "suspended" ? "suspended" : "absent" };
}

function describe({ outcome, metadata, sha256 }: MetadataRow): StoredMetadata {
  if (outcome === "found" && metadata !== null && sha256 !== null) {
    const { client_id: clientId } = JSON.parse(metadata) as { client_id: string };
    return { kind: "found", sha256, clientId, text: metadata };
  }
  return { kind: outcome === "suspended" ? "suspended" : "absent", text: metadata };
}
