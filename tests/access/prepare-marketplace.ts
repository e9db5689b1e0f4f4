import { isForListings, prepareListings } from "./prepare-listings.ts";
import { isForNotices, noticeRequests } from "./prepare-notices.ts";
import { isForReviews, prepareReviews } from "./prepare-reviews.ts";
import { isForSandbox, prepareSandbox } from "./prepare-sandbox.ts";
import { prepareSubscriptions, type RequestBuilder } from "./prepare-subscriptions.ts";
import { isForWebhooks, prepareWebhooks } from "./prepare-webhooks.ts";

/** Builds the requests of all routes of the marketplace that require a token. */
export async function prepareMarketplace(url: string, operator: string, developer: string): Promise<RequestBuilder> {
  const subscriptions = await prepareSubscriptions(url, operator);
  const webhooks = await prepareWebhooks(url, operator);
  const listings = await prepareListings(url, operator);
  const reviews = await prepareReviews(url, operator, developer);
  const sandbox = await prepareSandbox(url, operator);
  const builderOf = (route: string): RequestBuilder => {
    if (isForNotices(route)) return noticeRequests;
    if (isForSandbox(route)) return sandbox;
    if (isForReviews(route)) return reviews;
    if (isForListings(route)) return listings;
    return isForWebhooks(route) ? webhooks : subscriptions;
  };
  return { buildRequest: (route, on) => builderOf(route).buildRequest(route, on) };
}
