import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { startWeb } from "@ehr-marketplace/tests/support/web";
import type { Schema } from "./hostile-inputs.ts";
import type { ServedRoute } from "./hostile-requests.ts";

/** Finds parts of a schema without a size limit, by JSON Pointer. Queries and headers may have unknown properties. */
function findUnbounded(schema: Schema, pointer: string, mayBeOpen = false): string[] {
  const types = new Set([schema.type].flat());
  const values = schema.enum ?? ("const" in schema ? [schema.const] : undefined);
  const branches = schema.anyOf ?? [];
  const isOpen = !mayBeOpen && schema.additionalProperties !== false && schema.maxProperties === undefined;
  const found = [
    types.has("string") && values === undefined && schema.maxLength === undefined && "string without maxLength",
    types.has("array") && schema.maxItems === undefined && "array without maxItems",
    types.has("array") && schema.items?.type === undefined && "array whose items have no type",
    types.has("object") && isOpen && "open object without maxProperties",
    types.has(undefined) && values === undefined && branches.length === 0 && "no type",
  ];
  return [
    ...found.filter((what) => what !== false).map((what) => `${pointer}: ${what}`),
    ...branches.flatMap((each, index) => findUnbounded(each, `${pointer}/anyOf/${index}`)),
    ...(schema.items === undefined ? [] : findUnbounded(schema.items, `${pointer}/items`)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => findUnbounded(each, `${pointer}/${name}`)),
  ];
}

/** Imports, a set that is replaced as a whole, a document of many texts, a file, and reasons of a rejection. */
const largeBodies = new Map([
  ["POST /api/v1/admin/organisations/import", 1_048_576],
  ["POST /api/v1/admin/vendors/import", 1_048_576],
  ["POST /api/admin/organisations/import", 1_048_576],
  ["PUT /api/v1/admin/search-synonyms", 262_144],
  ["PATCH /api/v1/developer/apps/:slug", 262_144],
  ["POST /api/v1/developer/apps/:slug/media", 5_242_880],
  ["POST /api/v1/admin/reviews/:id/reject", 262_144],
  ["POST /api/v1/subscriptions/:id/usage", 262_144],
]);
/** Routes whose bodies are limited only by the body limit. */
const acceptAnyBody = new Set([
  // A file; the use case reads it.
  "POST /api/v1/developer/apps/:slug/media",
  // A patch; the draft that it makes is validated.
  "PATCH /api/v1/developer/apps/:slug",
  // An app without a schema accepts any object.
  "PUT /api/app-installations/:appSlug/config",
  // The receiver ignores unknown fields of events.
  "POST /api/internal/marketplace-webhook",
]);

function findUnboundedRequests({ method, url, schema = {} }: ServedRoute): string[] {
  const { body, querystring, params, headers } = schema as Record<string, Schema | undefined>;
  return [
    ...(body === undefined || acceptAnyBody.has(`${method} ${url}`) ? [] : findUnbounded(body, "/body")),
    ...Object.entries({ querystring, params, headers }).flatMap(([part, each]) =>
      each === undefined ? [] : findUnbounded(each, `/${part}`, true),
    ),
  ].map((what) => `${method} ${url} ${what}`);
}

describe("every request schema is bounded", () => {
  const cleanUp = cleanUpAfter();
  const startApi = (start: typeof startMarketplace | typeof startEhr, template: "demo" | "ehr") => async () => {
    const { serviceUrl } = await cloneDatabase(cleanUp, template);
    return start(cleanUp, serviceUrl);
  };
  for (const [service, start] of [
    ["the marketplace", startApi(startMarketplace, "demo")],
    ["the EHR", startApi(startEhr, "ehr")],
    // What it forwards is limited by the APIs.
    ["the web", () => startWeb(cleanUp)],
  ] as const) {
    test(`in ${service}: strings, arrays, objects and bodies have a limit`, async () => {
      const { routesAndAccess } = (await start()).server;
      assert.deepEqual(routesAndAccess.flatMap(findUnboundedRequests), []);
      const withSchema = routesAndAccess.filter(({ schema }) => schema?.body !== undefined || schema?.querystring);
      assert.ok(withSchema.length > 5);
      for (const { method, url, maxBodyBytes } of routesAndAccess) {
        const route = `${method} ${url}`;
        const limit = largeBodies.get(route) ?? (acceptAnyBody.has(route) ? 65_536 : 16_384);
        assert.equal(maxBodyBytes, limit, route);
      }
    });
  }

  test("a schema without limits is reported", () => {
    const text = { type: "string" };
    const schema = { type: "object", properties: { a: text, b: { type: "array", items: {} }, c: { anyOf: [text] } } };
    assert.deepEqual(findUnbounded(schema, "/body"), [
      "/body: open object without maxProperties",
      "/body/a: string without maxLength",
      "/body/b: array without maxItems",
      "/body/b: array whose items have no type",
      "/body/b/items: no type",
      "/body/c/anyOf/0: string without maxLength",
    ]);
  });
});
