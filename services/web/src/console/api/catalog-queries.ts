import { queryOptions } from "@tanstack/react-query";
import { marketplace } from "./apis.ts";

export const appQuery = (slug: string) =>
  queryOptions({
    queryKey: ["app", slug],
    queryFn: ({ signal }) => marketplace("GET /apps/{slug}", { path: { slug }, signal }),
  });

export const pricingQuery = (slug: string) =>
  queryOptions({
    queryKey: ["app", slug, "pricing"],
    queryFn: ({ signal }) => marketplace("GET /apps/{slug}/pricing", { path: { slug }, signal }),
  });

export interface QuoteInput {
  pricingPlanId: string;
  quantity?: number;
  usage?: string;
  /** Whether the practice can have a trial. */
  trial: boolean;
}

/** What the marketplace calculates. Nothing is calculated here. */
export const quoteQuery = (slug: string, input: QuoteInput) =>
  queryOptions({
    queryKey: ["app", slug, "quote", input],
    queryFn: ({ signal }) => marketplace("POST /apps/{slug}/estimate", { path: { slug }, body: input, signal }),
  });
