import { randomUUID } from "node:crypto";
import { aliases, type RequestBuilder } from "./prepare-subscriptions.ts";

export const isForNotices = (route: string): boolean => /\/(notices|notice-settings)(\/|$)/.test(route);

/** Of notices that don't exist: a caller who may not act for the audience gets 403 before. */
export const noticeRequests: RequestBuilder = {
  async buildRequest(route, on) {
    const path = (route.split(" ")[1] ?? "").replace(":alias", aliases[on] ?? "").replace(":id", randomUUID());
    return {
      path,
      // Another one each time: settings that stay the same leave no audit entry.
      ...(route.startsWith("PUT") ? { body: { email: `${randomUUID()}@example.com`, mutedKinds: [] } } : {}),
      ...(on.endsWith("by name") ? { headers: { "x-vendor-slug": "northwind-health" } } : {}),
    };
  },
};
