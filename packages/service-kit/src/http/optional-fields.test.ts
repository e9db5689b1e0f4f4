import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { type FieldSchema, withOptionalNulls } from "./optional-fields.ts";
import { startTestServer, type TestServer } from "./server.test-support.ts";
import { createStrictAjv } from "./strict-ajv.ts";

const closed = (required: string[], properties: Record<string, FieldSchema>) => ({
  type: "object",
  additionalProperties: false,
  required,
  properties,
});
const word = { type: "string" };
const schema = closed(["name"], {
  name: word,
  nickname: word,
  kind: { enum: ["a", "b"], description: "Which one" },
  always: { const: true },
  removable: { anyOf: [word, { type: "null" }] },
  either: { type: ["string", "null"] },
  anything: {},
  owner: closed(["id"], { id: word, title: word }),
  parts: { type: "array", items: closed([], { size: { type: "integer" } }) },
});

describe("null counts as absent in an optional field", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, {
      routes: (server) => {
        server.post("/things", { schema: { body: schema } }, (request) => request.body);
        server.put("/settings", { schema: { body: { type: "object" } } }, (request) => request.body);
      },
    });
  });
  const send = (method: string, path: string, body: unknown): Promise<Response> =>
    fetch(`${running.url}${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  const accepted: [what: string, given: object, read: object][] = [
    ["at the top", { name: "a", nickname: null, kind: null, always: null, owner: null, parts: null }, { name: "a" }],
    ["further down", { name: "a", owner: { id: "1", title: null } }, { name: "a", owner: { id: "1" } }],
    [
      "in the items of a list",
      { name: "a", parts: [{ size: null }, { size: 1 }] },
      { name: "a", parts: [{}, { size: 1 }] },
    ],
  ];
  for (const [what, given, read] of accepted) {
    test(what, async () => {
      assert.deepEqual(await (await send("POST", "/things", given)).json(), read);
      assert.ok(createStrictAjv().compile(withOptionalNulls(schema))(given), "the API reference admits it");
    });
  }

  test("is kept if the schema accepts null", async () => {
    const given = { name: "a", removable: null, either: null, anything: null };
    assert.deepEqual(await (await send("POST", "/things", given)).json(), given);
    assert.deepEqual(await (await send("PUT", "/settings", { a: null })).json(), { a: null });
  });

  const refused: [what: string, given: object, pointer: string][] = [
    ["a required field", { name: null }, "/body/name"],
    ["a required field further down", { name: "a", owner: { id: null } }, "/body/owner/id"],
    ["a field that isn't known", { name: "a", colour: null }, "/body/colour"],
    ["an item of a list", { name: "a", parts: [null] }, "/body/parts/0"],
  ];
  for (const [what, given, pointer] of refused) {
    test(`and is 400 in ${what}`, async () => {
      const { errors } = await assertProblem(await send("POST", "/things", given), 400, "invalid-request");
      assert.deepEqual((errors as { pointer: string }[])[0]?.pointer, pointer);
      assert.ok(!createStrictAjv().compile(withOptionalNulls(schema))(given), "the API reference refuses it");
    });
  }
});
