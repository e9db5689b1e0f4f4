import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { MediaDto } from "@ehr-marketplace/contracts";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import type { RequestBuilder } from "./prepare-subscriptions.ts";

const named = { "x-vendor-slug": "northwind-health" };
const unique = (): string => `matrix-${randomUUID()}`;

/** Whether `prepareListings` builds the requests of a route. */
export const isForListings = (route: string): boolean => /\/admin\/(vendors|media)|\/developer\/apps/.test(route);

export async function prepareListings(url: string, operator: string): Promise<RequestBuilder> {
  const create = async (): Promise<string> => {
    const body = { slug: unique(), name: "Of the matrix" };
    const created = await sendApiRequest(url, "/developer/apps", operator, { body, headers: named });
    assert.equal(created.status, 201, await created.clone().text());
    return body.slug;
  };
  const slug = await create();
  /** Another document each time, because the same one is stored once. */
  const upload = (): { body: Buffer; headers: Record<string, string> } => ({
    body: Buffer.from(`%PDF-1.4\n% ${randomUUID()}\n%%EOF\n`),
    headers: { "content-type": "application/pdf" },
  });
  const store = async (): Promise<string> => {
    const document = upload();
    const uploaded = await sendApiRequest(url, `/developer/apps/${slug}/media?kind=document`, operator, {
      body: document.body,
      headers: { ...named, ...document.headers },
    });
    assert.equal(uploaded.status, 201, await uploaded.clone().text());
    return ((await uploaded.json()) as MediaDto).id;
  };
  const id = await store();
  const etag = async (): Promise<string> =>
    (await sendApiRequest(url, `/developer/apps/${slug}`, operator, { headers: named })).headers.get("etag") ?? "";

  return {
    async buildRequest(route, on) {
      const [method = "", path = ""] = route.split(" ");
      const headers = on.endsWith("by name") ? named : {};
      if (path.includes("/admin/vendors")) {
        const body = { name: `Northwind ${randomUUID()}`, websiteUrl: "https://northwind-health.example" };
        if (method === "POST") {
          return {
            path,
            body: { slug: "northwind-health", ...body },
            headers: { "content-type": "application/x-ndjson" },
          };
        }
        return { path: path.replace(":slug", "northwind-health"), ...(method === "PUT" ? { body } : {}) };
      }
      if (path.includes("/admin/media")) {
        return { path: path.replace(":id", on === "an unknown id" ? randomUUID() : await store()) };
      }
      if (method === "DELETE") {
        return { path: path.replace(":slug", on === "an unknown id" ? unique() : await create()), headers };
      }
      const target = path.replace(":slug", on === "an unknown id" ? unique() : slug).replace(":id", id);
      if (path.endsWith("/media")) {
        const sent = upload();
        return { path: `${target}?kind=document`, headers: { ...headers, ...sent.headers }, body: sent.body };
      }
      if (method === "POST") return { path, headers, body: { slug: unique(), name: "Of the matrix" } };
      if (method !== "PATCH") return { path: target, headers };
      return { path: target, headers: { ...headers, "if-match": await etag() }, body: { summary: randomUUID() } };
    },
  };
}
