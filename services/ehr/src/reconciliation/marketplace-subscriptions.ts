import {
  type EventApp,
  epochHeader,
  type MarketplaceEpoch,
  parseEpoch,
  type ReceivedSubscription,
  receivedSubscription,
} from "@ehr-marketplace/contracts";
import { findUnstorable } from "@ehr-marketplace/service-kit/http";
import type { ParseApp } from "../apps/parse-app.ts";
import { createValidator } from "../create-validator.ts";
import { readBoundedText } from "../read-bounded-text.ts";
import type { MarketplaceTokens } from "./marketplace-tokens.ts";
import { MarketplaceRefusalError, MarketplaceUnavailableError } from "./reconciliation-errors.ts";

/** A subscription with its app, unless the listed app is invalid. The app has all its scopes, also those that aren't agreed to. */
export type ListedSubscription = ReceivedSubscription & { app?: EventApp };

/** A record of the list that isn't a valid subscription. */
export interface SkippedRecord {
  /** Undefined if the record has no valid id. */
  id: string | undefined;
  reason: string;
}

export interface SubscriptionList {
  subscriptions: ListedSubscription[];
  skipped: SkippedRecord[];
  /** Of the pages, in the order in which they were read, except pages without a valid one. */
  epochs: MarketplaceEpoch[];
}

/** Lists at most that many pages; by default, a list that has too many is refused. */
export type ListSubscriptions = (orgAlias: string, only?: { pages: number }) => Promise<SubscriptionList>;

const timeoutMs = 10_000;
/** A record with the longest scopes, plan and app of the marketplace's schemas has less than 256 KiB, so that every page fits. */
const pageSize = 32;
const maxResponseBytes = pageSize * 262_144;
const maxPages = 3_200;
const maxDetailLength = 200;

const validateRecord = createValidator<ReceivedSubscription & { app?: unknown }>(receivedSubscription);
const validateId = createValidator<{ id: string }>({
  type: "object",
  properties: { id: receivedSubscription.properties.id },
  required: ["id"],
});

/** Lists all subscriptions of an organisation at the marketplace, including cancelled ones. */
export function createSubscriptionLister(
  marketplaceUrl: string,
  tokens: MarketplaceTokens,
  parseApp: ParseApp,
): ListSubscriptions {
  const request = async (orgAlias: string, url: URL): Promise<{ status: number; text: string; headers: Headers }> => {
    const bearer = await tokens.get(orgAlias);
    try {
      const response = await fetch(url, {
        headers: { authorization: `Bearer ${bearer}`, accept: "application/json" },
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (response.status === 401) tokens.invalidate(bearer);
      return {
        status: response.status,
        text: await readBoundedText(response, maxResponseBytes),
        headers: response.headers,
      };
    } catch (error) {
      throw new MarketplaceUnavailableError("the request to the marketplace failed", { cause: error });
    }
  };

  const fetchPage = async (orgAlias: string, url: URL): Promise<SubscriptionList & { next: string | undefined }> => {
    let response = await request(orgAlias, url);
    // The token or its signing key may have been revoked, so retry once with a new token.
    if (response.status === 401) response = await request(orgAlias, url);
    const { status, text, headers } = response;
    if (status === 408 || status === 429 || status >= 500) {
      throw new MarketplaceUnavailableError(`the marketplace responded with ${status}`);
    }
    if (status !== 200) throw new MarketplaceRefusalError(refusalMessage(orgAlias, status, text));
    const epoch = parseEpoch(headers.get(epochHeader));
    return {
      ...parsePage(text, parseApp),
      epochs: epoch === undefined ? [] : [epoch],
      next: parseNextCursor(headers.get("link"), url),
    };
  };

  return async (orgAlias, only) => {
    const all: SubscriptionList = { subscriptions: [], skipped: [], epochs: [] };
    let after: string | undefined;
    for (let page = 0; page < (only?.pages ?? maxPages); page += 1) {
      const url = new URL(`${marketplaceUrl}/subscriptions`);
      url.searchParams.set("orgAlias", orgAlias);
      url.searchParams.set("expand", "app");
      url.searchParams.set("limit", String(pageSize));
      if (after !== undefined) url.searchParams.set("after", after);
      const { subscriptions, skipped, epochs, next } = await fetchPage(orgAlias, url);
      if (subscriptions.some((subscription) => subscription.orgAlias !== orgAlias)) {
        throw new MarketplaceRefusalError("the marketplace's list contains subscriptions of another organisation");
      }
      all.subscriptions.push(...subscriptions);
      all.skipped.push(...skipped);
      all.epochs.push(...epochs);
      if (next === undefined) return all;
      after = next;
    }
    if (only !== undefined) return all;
    throw new MarketplaceRefusalError(`the marketplace's list has more than ${maxPages} pages`);
  };
}

/** Names the cause and the next step, for the log and for the operator who requested the reconciliation. */
function refusalMessage(orgAlias: string, status: number, text: string): string {
  const detail = problemDetail(text);
  const reason = detail === undefined ? String(status) : `${status}: ${detail}`;
  if (status !== 401 && status !== 403)
    return `the marketplace refuses to list subscriptions of ${orgAlias} (${reason})`;
  return `the marketplace refuses this service's token for ${orgAlias} (${reason}); check that the token has the role ehr-service and names the organisation`;
}

/** The detail of a problem document, shortened. Words as long as a token are left out, since a proxy may have echoed the request. */
function problemDetail(text: string): string | undefined {
  let detail: unknown;
  try {
    ({ detail } = Object(JSON.parse(text)) as { detail?: unknown });
  } catch {
    // Not a problem document, for example a proxy's error page.
  }
  if (typeof detail !== "string") return undefined;
  const plain = detail
    .replaceAll(/\p{Cc}/gu, " ")
    .replaceAll(/[^ ]{65,}/g, "…")
    .trim()
    .replace(/\.$/, "");
  return plain.length > maxDetailLength ? `${plain.slice(0, maxDetailLength)}…` : plain;
}

/** An invalid record is skipped, so that it doesn't keep the others from being reconciled. */
function parsePage(text: string, parseApp: ParseApp): Pick<SubscriptionList, "subscriptions" | "skipped"> {
  let records: unknown;
  try {
    records = JSON.parse(text);
  } catch {
    // Not JSON.
  }
  if (!Array.isArray(records)) {
    throw new MarketplaceRefusalError("the marketplace's response is not a list of subscriptions");
  }
  const page: ReturnType<typeof parsePage> = { subscriptions: [], skipped: [] };
  for (const record of records as unknown[]) {
    const parsed = parseRecord(record, parseApp);
    if ("reason" in parsed) page.skipped.push(parsed);
    else page.subscriptions.push(parsed);
  }
  return page;
}

function parseRecord(record: unknown, parseApp: ParseApp): ListedSubscription | SkippedRecord {
  const result = validateRecord(record);
  const reason = "error" in result ? result.error : findProblem(result.value);
  if (reason === undefined && "value" in result) return withApp(result.value, parseApp);
  const identified = validateId(record);
  const id = "value" in identified ? identified.value.id.toLowerCase() : undefined;
  return { id, reason: (reason ?? "is invalid").trim() };
}

/** What the schema can't express: texts that PostgreSQL doesn't store, and times such as a leap second, which JavaScript doesn't parse. */
function findProblem({ updatedAt, fhirScopes, pendingScopes }: ReceivedSubscription): string | undefined {
  const unstorable = findUnstorable({ fhirScopes, pendingScopes }, "");
  if (unstorable !== undefined) return `${unstorable.pointer} ${unstorable.detail}`;
  return Number.isNaN(Date.parse(updatedAt)) ? "/updatedAt is not a time" : undefined;
}

/** Leaves out an invalid app; the subscription itself and the other apps stay usable. */
function withApp(item: ReceivedSubscription & { app?: unknown }, parseApp: ParseApp): ListedSubscription {
  const { app: given, ...received } = item;
  const subscription = { ...received, id: received.id.toLowerCase() };
  const result = parseApp(given);
  if ("error" in result || result.app.slug !== item.appSlug) return subscription;
  // The listed app has the scopes that this organisation has agreed to; together with the pending ones they are the app's.
  const fhirScopes = [result.app.fhirScopes, item.pendingScopes ?? ""].filter((scopes) => scopes !== "").join(" ");
  return { ...subscription, app: { ...result.app, fhirScopes } };
}

/** Only the cursor of the link is used: following the URL could send this service's token to another host. */
function parseNextCursor(link: string | null, requestUrl: URL): string | undefined {
  const target = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(link ?? "")?.[1];
  if (target === undefined) return undefined;
  return URL.parse(target, requestUrl.href)?.searchParams.get("after") ?? undefined;
}
