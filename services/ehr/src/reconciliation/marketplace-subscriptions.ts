import { type EventApp, type SubscriptionDto, subscriptionDto } from "@ehr-marketplace/contracts";
import type { ReadApp } from "../apps/read-app.ts";
import { boundedText } from "../bounded-text.ts";
import { wireReader } from "../wire-validation.ts";
import { MarketplaceAwayError, MarketplaceRefusesError } from "./marketplace-failures.ts";
import type { MarketplaceToken } from "./marketplace-token.ts";

/** With its app, unless the marketplace describes that in a way that can't be used. */
export type ListedSubscription = SubscriptionDto & { app?: EventApp };
export type ListSubscriptions = (orgAlias: string) => Promise<ListedSubscription[]>;

const timeoutMs = 10_000;
/** With their apps, a thousand subscriptions could be more than is read of a response. */
const pageSize = 200;
const mostPages = 500;
const mostBytes = 4 * 1_048_576;
const maxDetailLength = 200;

const readPage = wireReader<SubscriptionDto[]>({ type: "array", items: { $ref: "SubscriptionDto#" } }, [
  subscriptionDto,
]);

/** All subscriptions that an organisation has and had, as the marketplace has them. */
export function createSubscriptionList(
  marketplaceUrl: string,
  token: MarketplaceToken,
  readApp: ReadApp,
): ListSubscriptions {
  const ask = async (orgAlias: string, url: URL): Promise<{ status: number; text: string; link: string | null }> => {
    const bearer = await token.get(orgAlias);
    try {
      const answer = await fetch(url, {
        headers: { authorization: `Bearer ${bearer}`, accept: "application/json" },
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (answer.status === 401) token.forget(bearer);
      return { status: answer.status, text: await boundedText(answer, mostBytes), link: answer.headers.get("link") };
    } catch (error) {
      throw new MarketplaceAwayError("the marketplace doesn't answer", { cause: error });
    }
  };

  const pageOf = async (
    orgAlias: string,
    url: URL,
  ): Promise<{ items: ListedSubscription[]; next: string | undefined }> => {
    let answer = await ask(orgAlias, url);
    // The token may have been revoked, or the keys behind it: another one is worth a try.
    if (answer.status === 401) answer = await ask(orgAlias, url);
    const { status, text, link } = answer;
    if (status === 408 || status === 429 || status >= 500) {
      throw new MarketplaceAwayError(`the marketplace answers ${status}`);
    }
    if (status !== 200) throw new MarketplaceRefusesError(refusalMessage(orgAlias, status, text));
    return { items: itemsIn(text, readApp), next: nextIn(link, url) };
  };

  return async (orgAlias) => {
    const all: ListedSubscription[] = [];
    let after: string | undefined;
    for (let page = 0; page < mostPages; page += 1) {
      const url = new URL(`${marketplaceUrl}/subscriptions`);
      url.searchParams.set("orgAlias", orgAlias);
      url.searchParams.set("expand", "app");
      url.searchParams.set("limit", String(pageSize));
      if (after !== undefined) url.searchParams.set("after", after);
      const { items, next } = await pageOf(orgAlias, url);
      if (items.some((item) => item.orgAlias !== orgAlias)) {
        throw new MarketplaceRefusesError("the marketplace lists subscriptions of another organisation");
      }
      all.push(...items);
      if (next === undefined) return all;
      after = next;
    }
    throw new MarketplaceRefusesError(`the marketplace lists more than ${mostPages} pages`);
  };
}

/** Names the cause and the next step, for the log and for the operator who asked for the reconciliation. */
function refusalMessage(orgAlias: string, status: number, text: string): string {
  const detail = problemDetail(text);
  const reason = detail === undefined ? String(status) : `${status}: ${detail}`;
  if (status !== 401 && status !== 403)
    return `the marketplace refuses to list subscriptions of ${orgAlias} (${reason})`;
  return `the marketplace refuses this service's token for ${orgAlias} (${reason}); check that the token has the role ehr-service and names the organisation`;
}

/** What a problem document says, bounded. A word as long as a token is left out: a proxy may have echoed the request. */
function problemDetail(text: string): string | undefined {
  let detail: unknown;
  try {
    ({ detail } = Object(JSON.parse(text)) as { detail?: unknown });
  } catch {
    // A proxy's page.
  }
  if (typeof detail !== "string") return undefined;
  const plain = detail
    .replaceAll(/\p{Cc}/gu, " ")
    .replaceAll(/[^ ]{65,}/g, "…")
    .trim()
    .replace(/\.$/, "");
  return plain.length > maxDetailLength ? `${plain.slice(0, maxDetailLength)}…` : plain;
}

function itemsIn(text: string, readApp: ReadApp): ListedSubscription[] {
  try {
    const result = readPage(JSON.parse(text));
    if ("read" in result) return result.read.map((item) => withApp(item, readApp));
  } catch {
    // Not even JSON.
  }
  throw new MarketplaceRefusesError("the marketplace's answer is no list of subscriptions");
}

/** An app that can't be used is left out: the others, and the subscription itself, are not its fault. */
function withApp(item: SubscriptionDto & { app?: unknown }, readApp: ReadApp): ListedSubscription {
  const { app: given, ...subscription } = item;
  const result = readApp(given);
  return "app" in result && result.app.slug === item.appSlug ? { ...subscription, app: result.app } : subscription;
}

/** Where the list goes on. Only the cursor is taken: a link must not send this service's token elsewhere. */
function nextIn(link: string | null, asked: URL): string | undefined {
  const target = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(link ?? "")?.[1];
  if (target === undefined) return undefined;
  return URL.parse(target, asked.href)?.searchParams.get("after") ?? undefined;
}
