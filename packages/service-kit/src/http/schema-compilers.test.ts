import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { startTestServer } from "./server.test-support.ts";

const valid = { type: "object", properties: { name: { type: "string" } } };
/** A keyword that doesn't exist, and a schema that doesn't. */
const mistakes = {
  "a query": ["querystring", { querystring: { ...valid, minimun: 1 } }],
  "a body": ["body", { body: { $ref: "Missing#" } }],
  "a response": ["response 200", { response: { 200: { $ref: "Missing#" } } }],
} as const;

describe("compiling all schemas of a server", () => {
  const cleanUp = cleanUpAfter();

  for (const [of, [part, schema]] of Object.entries(mistakes)) {
    test(`names the route and the part of a mistake in the schema of ${of}`, async () => {
      const { server } = await startTestServer(cleanUp, {
        routes: (app) => {
          app.get("/right", { schema: { querystring: valid, response: { 200: valid } } }, () => ({}));
          app.post("/wrong", { schema }, () => ({}));
        },
      });
      const names = ({ message }: Error): boolean =>
        message.startsWith(`POST /wrong has an invalid schema (${part}): `);
      assert.throws(() => server.compileSchemas(), names);
      assert.throws(() => server.compileSchemas(), names, "also the second time");
    });
  }

  test("accepts schemas without a mistake, shared ones included", async () => {
    const { server } = await startTestServer(cleanUp, {
      routes: (app) => {
        app.addSchema({ $id: "Named", ...valid });
        app.post("/right", { schema: { body: { $ref: "Named#" }, response: { 200: { $ref: "Named#" } } } }, () => ({}));
      },
    });
    assert.doesNotThrow(() => server.compileSchemas());
  });
});
