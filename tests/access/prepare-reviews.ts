import { randomUUID } from "node:crypto";
import type { AdminAppDto, ListingDto } from "@ehr-marketplace/contracts";
import { createPublisher } from "@ehr-marketplace/tests/support/publisher";
import type { RequestBuilder } from "./prepare-subscriptions.ts";

const named = { "x-vendor-slug": "northwind-health" };

/** Whether `prepareReviews` builds the requests of a route. */
export const isForReviews = (route: string): boolean =>
  /\/(admin\/(reviews|apps)|developer\/apps\/:slug\/(submit|withdraw|revisions|unpublish|republish))/.test(route);

/** Before each request, the listing gets the state in which the request is allowed. */
export async function prepareReviews(url: string, operator: string, developer: string): Promise<RequestBuilder> {
  const tokens = { operator, developer };
  const publisher = createPublisher<"developer">(url, (who) => tokens[who], "developer");
  const publish = async (): Promise<string> => {
    const published = `reviewed-${randomUUID()}`;
    await publisher.publish(published);
    return published;
  };
  const slug = await publish();
  const ofVendor = (action: string) =>
    publisher.request("developer", `/developer/apps/${slug}/${action}`, { method: "POST" });
  const ofOperator = (action: string, body?: object) =>
    publisher.request("operator", `/admin/apps/${slug}/${action}`, body === undefined ? { method: "POST" } : { body });
  const read = async (): Promise<AdminAppDto> =>
    (await (await publisher.request("operator", `/admin/apps/${slug}`)).json()) as AdminAppDto;
  const openReview = async (): Promise<string> => {
    const listing: ListingDto = await publisher.read(slug);
    const isOpen = listing.review !== null && listing.review.reasons.length === 0;
    return isOpen ? (listing.review?.id ?? "") : publisher.submit(slug);
  };

  const prepare: Record<string, () => Promise<unknown>> = {
    submit: () => ofVendor("withdraw"),
    withdraw: openReview,
    suspend: async () => (await read()).suspension !== null && ofOperator("reinstate"),
    reinstate: async () => (await read()).suspension === null && ofOperator("suspend", { reason: "Of the matrix" }),
  };
  /** A listing that can't be unpublished again yet is replaced. */
  const targets: Record<string, string> = {};
  const findTarget = async (action: "unpublish" | "republish"): Promise<string> => {
    const wanted = action === "unpublish" ? "published" : "unpublished";
    const known = targets[action];
    if (known !== undefined && (await publisher.read(known)).status === wanted) return known;
    const target = await publish();
    targets[action] = target;
    if (action === "republish") {
      await publisher.request("developer", `/developer/apps/${target}/unpublish`, { method: "POST" });
    }
    return target;
  };
  const bodies: Record<string, object> = {
    approve: {},
    reject: { reasons: [{ pointer: "/summary", text: "Of the matrix" }] },
    suspend: { reason: "Of the matrix" },
  };

  return {
    async buildRequest(route, on) {
      const [, path = ""] = route.split(" ");
      const headers = on.endsWith("by name") ? named : {};
      const action = path.split("/").at(-1) ?? "";
      await prepare[action]?.();
      const isUnknown = on === "an unknown id";
      const review = path.includes(":id") && !isUnknown ? await openReview() : randomUUID();
      const listing = action === "unpublish" || action === "republish" ? await findTarget(action) : slug;
      const target = path
        .replace(":slug", isUnknown ? `unknown-${randomUUID()}` : listing)
        .replace(":id", review)
        .replace(":revision", "1");
      const body = bodies[action];
      return { path: target, headers, ...(body === undefined ? {} : { body }) };
    },
  };
}
