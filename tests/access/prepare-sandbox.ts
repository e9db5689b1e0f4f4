import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { type RequestOptions, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import type { RequestBuilder } from "./prepare-subscriptions.ts";

const named = { "x-vendor-slug": "northwind-health" };
const orgAlias = "northwind-sandbox";
/** Where installations are ended, so that the one in the other stays. */
const ended = "northwind-ended";

/** Whether `prepareSandbox` builds the requests of a route. */
export const isForSandbox = (route: string): boolean =>
  /\/(test-subscriptions|sandbox-apps|sandbox-launches)/.test(route);

export async function prepareSandbox(url: string, operator: string): Promise<RequestBuilder> {
  const slug = `matrix-${randomUUID()}`;
  const path = `/developer/apps/${slug}`;
  const send = async (to: string, options: RequestOptions = {}): Promise<Response> => {
    const response = await sendApiRequest(url, to, operator, { ...options, headers: { ...named, ...options.headers } });
    assert.ok(response.ok, await response.clone().text());
    return response;
  };
  const edit = async (body: object): Promise<void> => {
    const etag = (await send(path)).headers.get("etag") ?? "";
    await send(path, { method: "PATCH", body, headers: { "if-match": etag } });
  };
  const sandbox = { displayName: "Sandbox", kind: "SANDBOX", vendorSlug: "northwind-health" };
  await send(`/admin/organisations/${orgAlias}`, { method: "PUT", body: sandbox });
  await send("/developer/apps", { body: { slug, name: "Of the matrix" } });
  await edit({
    category: "DOCUMENTATION",
    oauth: { type: "PUBLIC", redirectUris: ["https://matrix.example/back"] },
  });
  await send(`/admin/organisations/${ended}`, { method: "PUT", body: sandbox });
  const installed = await send(`${path}/test-subscriptions`, { body: { orgAlias } });
  const { id } = (await installed.json()) as SubscriptionDto;

  return {
    async buildRequest(route, on) {
      const isUnknown = on === "an unknown id";
      const target = (route.split(" ")[1] ?? "").replace(":id", isUnknown ? randomUUID() : id);
      if (route.includes("/sandbox-apps")) {
        return { path: target.replace(":slug", `sandbox-${isUnknown ? randomUUID() : slug}`) };
      }
      if (route.includes("/sandbox-launches")) return { path: target };
      if (route.startsWith("DELETE")) {
        await send(`${path}/test-subscriptions`, { body: { orgAlias: ended } });
        const alias = on === "riverside" ? "riverside-clinic" : ended;
        return {
          path: target.replace(":slug", isUnknown ? randomUUID() : slug).replace(":orgAlias", alias),
          headers: on.endsWith("by name") ? named : {},
        };
      }
      // An installation without a change leaves no audit entry.
      await edit({ summary: randomUUID() });
      return {
        path: target.replace(":slug", isUnknown ? randomUUID() : slug),
        headers: on.endsWith("by name") ? named : {},
        body: { orgAlias: on === "riverside" ? "riverside-clinic" : orgAlias },
      };
    },
  };
}
