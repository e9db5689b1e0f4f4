import { isSandboxSlug } from "@ehr-marketplace/contracts";
import {
  hasCode,
  MarketplaceResponseError,
  requestAsSubscriber,
  type SandboxAccess,
} from "../apps/request-as-subscriber.ts";
import { readBoundedText } from "../read-bounded-text.ts";
import type { ParseClientMetadata, ParsedMetadata } from "./parse-client-metadata.ts";

export type MetadataResponse =
  | { kind: "found"; metadata: ParsedMetadata; etag: string | null }
  | { kind: "unchanged" }
  /** The vendor has not said how the app signs in. */
  | { kind: "absent" }
  | { kind: "refused"; reason: string }
  /** The app is suspended for security. */
  | { kind: "suspended" };

/** Returns `unchanged` if the metadata still has the given ETag. Throws if the marketplace's response says nothing about it. */
export type FetchClientMetadata = (appSlug: string, etag: string | null) => Promise<MetadataResponse>;

/** Of a document with at most 5 KiB, or of a problem. */
const maxResponseBytes = 16_384;
const maxEtagLength = 200;
const timeoutMs = 10_000;

const absentCodes = ["client-not-found", "app-not-found", "sandbox-app-not-found"];
const suspendedCodes = ["client-suspended", "app-suspended"];

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MarketplaceResponseError("the marketplace's response is not JSON");
  }
}

/** Reads apps' client metadata from the marketplace, bounded in time and size and without redirects; of drafts with this service's token. */
export function createClientMetadataReader(
  marketplaceUrl: string,
  { parse, sandbox }: { parse: ParseClientMetadata; sandbox: SandboxAccess | undefined },
): FetchClientMetadata {
  const request = async (appSlug: string, etag: string | null, bearer?: string): Promise<MetadataResponse> => {
    const collection = bearer === undefined ? "apps" : "sandbox-apps";
    const response = await fetch(`${marketplaceUrl}/${collection}/${encodeURIComponent(appSlug)}/client`, {
      headers: {
        accept: "application/json",
        // A compressed response has another ETag, and could expand beyond the size limit.
        "accept-encoding": "identity",
        // A cache between the services may have it from before a change.
        "cache-control": "no-cache",
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(etag === null ? {} : { "if-none-match": etag }),
      },
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { status } = response;
    const text = await readBoundedText(response, maxResponseBytes);
    if (status === 304 && etag !== null) return { kind: "unchanged" };
    if (status === 404 && hasCode(text, ...absentCodes)) return { kind: "absent" };
    if (status === 410 && hasCode(text, ...suspendedCodes)) return { kind: "suspended" };
    if (status !== 200) throw new MarketplaceResponseError(`the marketplace responded with ${status}`, status);
    const newEtag = response.headers.get("etag");
    const isStorable = newEtag !== null && newEtag.length <= maxEtagLength;
    const metadata = parse(parseJson(text), appSlug);
    if ("error" in metadata) {
      return { kind: "refused", reason: `The EHR refuses the app's client metadata: ${metadata.error}.`.slice(0, 500) };
    }
    return { kind: "found", metadata, etag: isStorable ? newEtag : null };
  };

  return async (appSlug, etag) => {
    if (!isSandboxSlug(appSlug)) return request(appSlug, etag);
    if (sandbox === undefined) return { kind: "absent" };
    return requestAsSubscriber<MetadataResponse>(sandbox, appSlug, (bearer) => request(appSlug, etag, bearer));
  };
}
