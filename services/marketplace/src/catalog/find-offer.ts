import { type EventApp, type PricingPlanDto, slugPattern } from "@ehr-marketplace/contracts";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { findOfferRow, findPlan } from "./catalog-store.ts";

export interface Offer {
  app: EventApp;
  vendorId: string;
  /** SHA-256 of the business associate agreement that subscribers must accept; null if the app requires none. */
  baaDocument: string | null;
  /** Undefined if the app has no such plan on sale. */
  plan: PricingPlanDto | undefined;
}

const slug = new RegExp(slugPattern);

/** Finds a published app and one of its plans on sale. */
export async function findOffer(database: Kysely<DB>, appSlug: string, planId: string): Promise<Offer | undefined> {
  if (!slug.test(appSlug)) return undefined;
  const row = await findOfferRow(database, appSlug, planId);
  if (row === undefined) return undefined;
  const { plan, vendorId, baaDocument, ...app } = row;
  return { app, vendorId, baaDocument, plan: plan ?? undefined };
}

/** Returns an existing plan, on sale or not. */
export async function getPlan(database: Kysely<DB>, id: string): Promise<PricingPlanDto> {
  return (await findPlan(database, id)).plan;
}
