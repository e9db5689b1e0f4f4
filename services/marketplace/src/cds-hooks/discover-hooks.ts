import type { ListingDraft } from "@ehr-marketplace/contracts";
import { type CdsDiscovery, namesHooks } from "@ehr-marketplace/listing-rules";
import { createOutboundClient, type OutboundClient, type Resolve } from "@ehr-marketplace/outbound-http";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { findDiscovery, upsertDiscovery } from "./cds-discovery-store.ts";
import { parseDiscovery } from "./parse-discovery.ts";

export interface DiscoveryDeps {
  database: Kysely<DB>;
  clock: () => Date;
  discoveryClient: OutboundClient;
  /** Networks, besides public ones, in which vendors' servers are allowed. */
  allowedNetworks: readonly string[];
}

/** The request that installs a draft waits for the vendor's server: at most this long. */
const timeoutMs = 5_000;
const maxBodyBytes = 65_536;

export const createDiscoveryClient = (resolve: Resolve): OutboundClient =>
  createOutboundClient({ resolve, timeoutMs, maxBodyBytes, maxIdleConnections: 10 });

/**
 * Requests the CDS Hooks services of a draft that names hooks, and stores which hooks they are for. Not to be called in a transaction,
 * because the vendor's server may take seconds. Its result is never an error of the caller.
 */
export async function discoverHooks(
  { database, clock, discoveryClient, allowedNetworks }: DiscoveryDeps,
  { appId, draft }: { appId: string; draft: ListingDraft },
): Promise<void> {
  const { cdsServicesUrl: url } = draft;
  if (url === undefined || !namesHooks(draft)) return;
  const requestedAt = clock();
  const headers = { accept: "application/json", "user-agent": "EHR-Marketplace/1" };
  const response = await discoveryClient.request({ url, headers, body: null, allowedNetworks });
  await upsertDiscovery(database, { appId, url, requestedAt, result: parseDiscovery(response) });
}

/** What the last request returned, for the check of a draft. */
export async function findCdsDiscovery(database: Kysely<DB>, appId: string): Promise<CdsDiscovery | null> {
  const row = await findDiscovery(database, appId);
  if (row === undefined) return null;
  const { url, requested_at, hooks, failure } = row;
  const read = { url, at: requested_at.toISOString() };
  return failure === null ? { ...read, hooks: hooks ?? [] } : { ...read, failure };
}
