import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, startEhr, startMarketplace } from "@ehr-marketplace/tests/support";
import type { Schema } from "./hostile-inputs.ts";
import type { ServedRoute } from "./hostile-requests.ts";

/** What in a schema admits values of any size, by JSON Pointer. Queries and headers may hold what nobody reads. */
function unboundedIn(schema: Schema, pointer: string, mayBeOpen = false): string[] {
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
    ...branches.flatMap((each, index) => unboundedIn(each, `${pointer}/anyOf/${index}`)),
    ...(schema.items === undefined ? [] : unboundedIn(schema.items, `${pointer}/items`)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => unboundedIn(each, `${pointer}/${name}`)),
  ];
}

/** Their bodies are bounded by the body limit alone. */
const readAnything = new Set([
  // An app without a schema takes any object.
  "PUT /api/app-installations/:appSlug/config",
  // Receivers of events ignore what they don't know.
  "POST /api/internal/marketplace-webhook",
]);

function unboundedRequests({ method, url, schema = {} }: ServedRoute): string[] {
  const { body, querystring, params, headers } = schema as Record<string, Schema | undefined>;
  return [
    ...(body === undefined || readAnything.has(`${method} ${url}`) ? [] : unboundedIn(body, "/body")),
    ...Object.entries({ querystring, params, headers }).flatMap(([part, each]) =>
      each === undefined ? [] : unboundedIn(each, `/${part}`, true),
    ),
  ].map((what) => `${method} ${url} ${what}`);
}

describe("every request schema is bounded", () => {
  const cleanUp = cleanUpAfter();
  for (const [service, start, template] of [
    ["the marketplace", startMarketplace, "demo"],
    ["the EHR", startEhr, "ehr"],
  ] as const) {
    test(`in ${service}: strings, arrays and objects have a limit, and so has each body`, async () => {
      const { serviceUrl } = await cloneDatabase(cleanUp, template);
      const { routesAndAccess } = (await start(cleanUp, serviceUrl)).server;
      assert.deepEqual(routesAndAccess.flatMap(unboundedRequests), []);
      const withSchema = routesAndAccess.filter(({ schema }) => schema?.body !== undefined || schema?.querystring);
      assert.ok(withSchema.length > 5);
      for (const { method, url, maxBodyBytes } of routesAndAccess) {
        const limit = readAnything.has(`${method} ${url}`) ? 65_536 : 16_384;
        assert.equal(maxBodyBytes, limit, `${method} ${url}`);
      }
    });
  }

  test("and one without a limit is found", () => {
    const text = { type: "string" };
    const schema = { type: "object", properties: { a: text, b: { type: "array", items: {} }, c: { anyOf: [text] } } };
    assert.deepEqual(unboundedIn(schema, "/body"), [
      "/body: open object without maxProperties",
      "/body/a: string without maxLength",
      "/body/b: array without maxItems",
      "/body/b: array whose items have no type",
      "/body/b/items: no type",
      "/body/c/anyOf/0: string without maxLength",
    ]);
  });
});
