import type { AuditEntry, ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { practiceName } from "../practice-name.ts";
import { texts } from "../texts.ts";

export interface DescribedEntry {
  what: string;
  /** Why, if the entry says it in words that a practice knows. */
  why: string | undefined;
  who: string;
  about: string;
  /** If it is about a subscription. */
  subscriptionId: string | undefined;
}

type Subscribed = Pick<ListedSubscriptionDto, "id" | "appSlug" | "app">;

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const readText = (state: AuditEntry["after"], name: string): string | undefined => {
  const value = state?.[name];
  return typeof value === "string" && value !== "" ? value : undefined;
};

function whyOf({ action, after }: AuditEntry): string | undefined {
  if (action === "subscription.pause") {
    const reason = readText(after, "pauseReason");
    const reasons: Record<string, string> = texts.pauseReasons;
    return reason === undefined ? undefined : capitalise(reasons[reason] ?? reason);
  }
  if (action !== "connection.report") return undefined;
  const status = readText(after, "status");
  const states: Record<string, string> = texts.connection;
  return status === undefined ? undefined : (states[status] ?? status);
}

/** The app's name, while the practice's list has the subscription; otherwise what the entry says of it. */
function aboutOf({ target, before, after, onBehalfOf }: AuditEntry, subscriptions: readonly Subscribed[]): string {
  if (target.kind === "organisation") return practiceName(onBehalfOf);
  if (target.kind === "notice-settings") return texts.audit.theMails;
  const known = subscriptions.find(({ id }) => id === target.id);
  return known?.app?.name ?? known?.appSlug ?? readText(after, "appSlug") ?? readText(before, "appSlug") ?? target.id;
}

/** An entry in plain words. What has none yet is shown as it is. */
export function describeEntry(entry: AuditEntry, subscriptions: readonly Subscribed[]): DescribedEntry {
  const { action, actor, target } = entry;
  const isOfSubscription = target.kind === "subscription" || target.kind === "connection";
  return {
    what: texts.actions[action] ?? action,
    why: whyOf(entry),
    who: capitalise(texts.roles[actor.role] ?? actor.role),
    about: aboutOf(entry, subscriptions),
    subscriptionId: isOfSubscription ? target.id : undefined,
  };
}
