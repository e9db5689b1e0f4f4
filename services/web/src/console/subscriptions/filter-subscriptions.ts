import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";
import type { SubscriptionsSearch } from "../search-params.ts";

type Filtered = Pick<ListedSubscriptionDto, "status" | "appSlug" | "app">;

const normalise = (text: string): string => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();

/** Why a list has no rows. Undefined if it has some. */
export function whyEmpty(
  subscriptions: readonly Filtered[],
  search: Pick<SubscriptionsSearch, "q" | "status">,
): "none" | "noneLive" | "noMatch" | undefined {
  if (subscriptions.length === 0) return "none";
  if (filterSubscriptions(subscriptions, search).length > 0) return undefined;
  return search.q === undefined && search.status === undefined ? "noneLive" : "noMatch";
}

/** The subscriptions that match the filters of the URL. Without a status, those in force. */
export function filterSubscriptions<T extends Filtered>(
  subscriptions: readonly T[],
  { q = "", status = "live" }: Pick<SubscriptionsSearch, "q" | "status">,
): T[] {
  const words = normalise(q).split(/\s+/);
  return subscriptions.filter((each) => {
    const isListed = status === "all" || each.status === status || (status === "live" && each.status !== "cancelled");
    const name = normalise(`${each.app?.name ?? ""} ${each.appSlug}`);
    return isListed && words.every((word) => name.includes(word));
  });
}
