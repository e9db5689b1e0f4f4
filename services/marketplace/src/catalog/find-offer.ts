import type { EventApp } from "@ehr-marketplace/contracts";
import { slugPattern } from "@ehr-marketplace/contracts";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { findOfferRow } from "./catalog-store.ts";

export interface Offer {
  app: EventApp;
  vendorId: string;
  /** Undefined if the app has no such plan on sale. */
  plan: { id: string; countsUnits: boolean; trialDays: number } | undefined;
}

const slug = new RegExp(slugPattern);

/** Finds a published app and one of its plans on sale. */
export async function findOffer(database: Kysely<DB>, appSlug: string, planId: string): Promise<Offer | undefined> {
  if (!slug.test(appSlug)) return undefined;
  const row = await findOfferRow(database, appSlug, planId);
  if (row === undefined) return undefined;
  const { planId: id, pricingModel, trialDays, vendorId, ...app } = row;
  const countsUnits = pricingModel === "PER_UNIT" || pricingModel === "TIERED";
  return { app, vendorId, plan: id === null || trialDays === null ? undefined : { id, countsUnits, trialDays } };
}
