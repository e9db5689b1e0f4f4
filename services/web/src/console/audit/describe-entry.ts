import type { AuditEntry, ListedSubscriptionDto, PricingPlanDto } from "@ehr-marketplace/client/marketplace";
import { formatMoney } from "../../storefront/format.ts";
import { texts as storefront } from "../../storefront/texts.ts";
import { practiceName } from "../practice-name.ts";
import { texts } from "../texts.ts";

export interface DescribedEntry {
  what: string;
  /** Why, or what it is since then, if the entry says it in words that a practice knows. */
  why: string | undefined;
  who: string;
  about: string;
  /** If it is about a subscription. */
  subscriptionId: string | undefined;
}

export type KnownPlan = Pick<PricingPlanDto, "id" | "name" | "currency" | "unitName">;

type Subscribed = Pick<ListedSubscriptionDto, "id" | "appSlug" | "app"> & { pricingPlan: KnownPlan };

/** What names are read from: an entry has ids only. */
export interface Known {
  subscriptions: readonly Subscribed[];
  /** Plans on sale, beside those of the subscriptions. */
  plans?: readonly KnownPlan[];
}

type State = AuditEntry["after"];

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const readText = (state: State, name: string): string | undefined => {
  const value = state?.[name];
  return typeof value === "string" && value !== "" ? value : undefined;
};

function describeTerms(state: State, { subscriptions, plans = [] }: Known): string | undefined {
  const id = readText(state, "pricingPlanId");
  const plan = [...subscriptions.map(({ pricingPlan }) => pricingPlan), ...plans].find((each) => each.id === id);
  const quantity = state?.["quantity"];
  if (plan === undefined || typeof quantity !== "number") return plan?.name;
  return texts.audit.terms(plan.name, texts.units(quantity, plan.unitName ?? storefront.price.unit));
}

function describeLimit(state: State, currency: string | undefined): string | undefined {
  const amount = state?.["amount"];
  if (typeof amount !== "number" || currency === undefined) return undefined;
  return texts.audit.limit(formatMoney(amount, currency), readText(state, "onReached") === "pause");
}

function describeCredit(state: State): string | undefined {
  const [amount, currency] = [state?.["amount"], readText(state, "currency")];
  if (typeof amount !== "number" || currency === undefined) return undefined;
  return [formatMoney(amount, currency), readText(state, "text")].filter((part) => part !== undefined).join(": ");
}

function whyOf({ action, target, before, after }: AuditEntry, known: Known): string | undefined {
  const describeChange = (describe: (state: State) => string | undefined): string | undefined => {
    const [was, is] = [describe(before), describe(after)];
    return was === undefined ? is : texts.audit.change(is, was);
  };
  if (action === "subscription.change-terms") return describeChange((state) => describeTerms(state, known));
  if (action === "subscription.set-spend-limit" || action === "subscription.remove-spend-limit") {
    const currency = known.subscriptions.find(({ id }) => id === target.id)?.pricingPlan.currency;
    return describeChange((state) => describeLimit(state, currency));
  }
  if (action === "subscription.credit") return describeCredit(after);
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

/** The apps of which a plan was changed. */
export function listChangedApps(entries: readonly AuditEntry[]): string[] {
  const changes = entries.filter(({ action }) => action === "subscription.change-terms");
  return [...new Set(changes.map(({ after }) => readText(after, "appSlug")).filter((slug) => slug !== undefined))];
}

/** The app's name, while the practice's list has the subscription; otherwise what the entry says of it. */
function aboutOf({ target, before, after, onBehalfOf }: AuditEntry, subscriptions: readonly Subscribed[]): string {
  if (target.kind === "organisation") return practiceName(onBehalfOf);
  if (target.kind === "notice-settings") return texts.audit.theMails;
  const known = subscriptions.find(({ id }) => id === target.id);
  return known?.app?.name ?? known?.appSlug ?? readText(after, "appSlug") ?? readText(before, "appSlug") ?? target.id;
}

/** An entry in plain words. What has none yet is shown as it is. */
export function describeEntry(entry: AuditEntry, known: Known): DescribedEntry {
  const { action, actor, target } = entry;
  const isOfSubscription = target.kind === "subscription" || target.kind === "connection";
  return {
    what: texts.actions[action] ?? action,
    why: whyOf(entry, known),
    who: capitalise(texts.roles[actor.role] ?? actor.role),
    about: aboutOf(entry, known.subscriptions),
    subscriptionId: isOfSubscription ? target.id : undefined,
  };
}
