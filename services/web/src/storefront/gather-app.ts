import type { PricingPlanDto, QuoteBody } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Catalog } from "../catalog/catalog.ts";
import type { Reading } from "../catalog/catalog-client.ts";
import { webProblems } from "../web-problems.ts";
import { countsUnits, countsUsage } from "./describe-price.ts";
import type { Gathered } from "./gather-results.ts";
import type { AppData, CalculatorInput, Estimate } from "./page-data.ts";

/** What the calculator's form sends. */
export interface AppQuery {
  plan?: string | undefined;
  quantity?: string | undefined;
  usage?: string | undefined;
}

/** A part of the page that may be missing while the marketplace can't be reached. */
async function optional<T>(reading: Promise<Reading<T> | undefined>): Promise<Reading<T> | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Problem && error.kind === webProblems.upstreamUnavailable) return undefined;
    throw error;
  }
}

/** Undefined if there is no such app. */
export async function gatherApp(
  catalog: Catalog,
  slug: string,
  query: AppQuery,
): Promise<Gathered<AppData> | undefined> {
  const [app, plans, versions, categories] = await Promise.all([
    catalog.getApp(slug),
    optional(catalog.getPricing(slug)),
    optional(catalog.listVersions(slug)),
    optional(catalog.listCategories()),
  ]);
  if (app === undefined) return undefined;
  const input = plans && chooseInput(plans.data, query);
  const [vendor, estimate] = await Promise.all([
    optional(catalog.getVendor(app.data.vendor.slug)),
    input && estimatePlan(catalog, slug, input),
  ]);
  return {
    data: {
      app: app.data,
      categories: categories?.data ?? [],
      plans: plans?.data,
      vendor: vendor?.data,
      versions: versions?.data,
      calculator: input && estimate && { ...input, estimate: estimate.estimate },
    },
    readings: [app, plans, versions, categories, vendor, estimate?.reading],
  };
}

function chooseInput(plans: PricingPlanDto[], { plan: id, quantity, usage }: AppQuery): CalculatorInput | undefined {
  const plan = plans.find((each) => each.id === id) ?? plans[0];
  return plan && { plan, quantity, usage };
}

interface Estimated {
  estimate: Estimate;
  reading?: Reading<unknown> | undefined;
}

const wholeNumber = /^\d{1,10}$/;
const decimal = /^\d{1,15}([.]\d{1,6})?$/;

async function estimatePlan(catalog: Catalog, slug: string, input: CalculatorInput): Promise<Estimated> {
  const { plan, quantity = "1", usage = "" } = input;
  if (plan.pricingModel === "FREE") return { estimate: { status: "free" } };
  if (countsUsage(plan) && usage === "") return { estimate: { status: "usage" } };
  const isValid = (!countsUnits(plan) || wholeNumber.test(quantity)) && (!countsUsage(plan) || decimal.test(usage));
  if (!isValid) return { estimate: { status: "refused" } };
  const body: QuoteBody = {
    pricingPlanId: plan.id,
    ...(countsUnits(plan) && { quantity: Number(quantity) }),
    ...(countsUsage(plan) && { usage }),
  };
  try {
    const reading = await catalog.estimate(slug, body);
    if (reading === undefined) return { estimate: { status: "refused" } };
    return { estimate: { status: "calculated", quote: reading.data }, reading };
  } catch (error) {
    if (error instanceof Problem && error.kind === webProblems.upstreamUnavailable) {
      return { estimate: { status: "unavailable" } };
    }
    throw error;
  }
}
