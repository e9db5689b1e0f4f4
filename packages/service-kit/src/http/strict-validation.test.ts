import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { assertSecurityHeaders, startTestServer, type TestServer } from "./server.test-support.ts";

const text = { type: "string" };
const uuid = { type: "string", format: "uuid" };
const closed = (required: string[], properties: object) => ({
  type: "object",
  additionalProperties: false,
  required,
  properties,
});
const query = {
  type: "object",
  properties: {
    size: { type: "integer", minimum: 1, maximum: 100 },
    page: { type: "integer", minimum: 0, default: 0 },
    q: { type: "string", maxLength: 5 },
    top: { type: "integer", maximum: 9 },
    nth: { type: "integer" },
    order: { type: "string", enum: ["up", "down"] },
    state: { anyOf: [{ const: "on" }, { const: "off" }] },
  },
};
const body = closed(["name"], {
  name: text,
  quantity: { type: "integer" },
  owner: closed(["id"], { id: uuid }),
  tags: { type: "array", items: text },
});

const twenty = (first: number): string => Array.from({ length: 20 }, (_, nth) => `v${first + nth}`).join(", ");

describe("requests are validated strictly", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, {
      routes: (server) => {
        server.get("/search", { schema: { querystring: query } }, (request) => request.query);
        server.post("/things", { schema: { body } }, (request) => request.body);
        server.register(async (scope) => {
          scope.addSchema({ $id: "Scoped", type: "object" });
          scope.get("/scoped", { schema: { querystring: query } }, (request) => request.query);
        });
        const digits = { type: "string", pattern: "^\\d+$" };
        const choices = Array.from({ length: 21 }, (_, nth) => `v${nth}`);
        const described = {
          type: "object",
          properties: {
            choice: { enum: ["a", "b"] },
            only: { enum: ["a"] },
            many: { enum: choices.slice(1) },
            more: { enum: choices },
            number: { enum: [1, null] },
            agreed: { const: true },
            at: { type: "string", format: "date-time" },
            id: uuid,
            link: { type: "string", format: "uri" },
            mail: { type: "string", format: "email" },
            day: { type: "string", format: "date" },
            list: { type: "array", items: text, minItems: 1, maxItems: 2 },
            short: { type: "string", minLength: 2 },
            share: { type: "number", minimum: 0, maximum: 100 },
            yes: { type: "boolean" },
            price: { anyOf: [{ anyOf: [{ type: "integer", minimum: 0 }, digits] }, { type: "null" }] },
            interval: { anyOf: [{ enum: ["MONTH", "YEAR"] }, { type: "null" }] },
            unit: { anyOf: [{ type: "string", minLength: 1 }, { type: "null" }] },
            nested: { anyOf: [closed(["id"], { id: uuid }), { type: "null" }] },
            code: { type: "string", pattern: "^[A-Z]$" },
            sort: { type: "string", pattern: "^(a|b)$", maxLength: 1, "x-error-message": "must be one of: a, b" },
          },
        };
        server.post("/described", { schema: { body: described } }, (request) => request.body);
        server.get("/times", { schema: { querystring: closed([], { from: described.properties.at }) } }, () => ({}));
        const states = { type: "array", items: query.properties.state };
        server.post("/states", { schema: { body: states } }, (request) => request.body);
        const params = closed(["id"], { id: uuid });
        server.get("/things/:id", { schema: { params } }, (request) => request.params);
      },
    });
  });

  const search = (asked: string): Promise<Response> => fetch(`${running.url}/search?${asked}`);
  const post = (given: unknown): Promise<Response> =>
    fetch(`${running.url}/things`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(given),
    });
  for (const [field, value, detail] of [
    ["choice", "c", "must be one of: a, b"],
    ["only", "c", "must be a"],
    ["many", "c", `must be one of: ${twenty(1)}`],
    ["more", "c", `must be one of: ${twenty(0)}, …`],
    ["number", 2, "must be one of: 1, null"],
    ["agreed", false, "must be true"],
    ["at", "2026-11-15", "must be a date and time with a time zone, such as 2026-03-18T09:30:00Z"],
    ["id", "1", "must be a UUID, such as 01890a5d-ac96-774b-bcce-b302099a8057"],
    ["link", "nowhere", "must be a URL, such as https://example.com/path"],
    ["mail", "nobody", "must be an email address, such as help@example.com"],
    ["day", "18.3.2026", "must be a date, such as 2026-03-18"],
    ["list", [], "must have at least 1 item"],
    ["list", ["a", "b", "c"], "must have at most 2 items"],
    ["list", "a", "must be an array"],
    ["short", "a", "must have at least 2 characters"],
    ["short", true, "must be a string"],
    ["share", 101, "must be at most 100"],
    ["share", -1, "must be at least 0"],
    ["share", "1", "must be a number"],
    ["yes", "yes", "must be true or false"],
    ["price", 49.5, "must be a whole number, at least 0, or a string, or null"],
    ["price", -1, "must be at least 0"],
    ["price", "free", "has characters or a form that isn't accepted"],
    ["interval", "DAY", "must be one of: MONTH, YEAR, or null"],
    ["unit", "", "must have at least 1 character"],
    ["code", "a", "has characters or a form that isn't accepted"],
    ["sort", "c", "must be one of: a, b"],
    ["sort", "cc", "must be one of: a, b"],
    ["sort", 1, "must be one of: a, b"],
  ] as const) {
    test(`the error for an invalid value describes the allowed values: ${field}=${JSON.stringify(value)}`, async () => {
      const response = await fetch(`${running.url}/described`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ [field]: value }),
      });
      const problem = await assertProblem(response, 400, "invalid-request");
      assert.deepEqual(problem["errors"], [{ pointer: `/body/${field}`, detail }]);
      assert.equal(problem["detail"], `/body/${field} ${detail}.`);
    });
  }

  test("the errors of an optional object are those of its fields", async () => {
    const response = await fetch(`${running.url}/described`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ nested: { id: "1", more: 1 }, price: false }),
    });
    const problem = await assertProblem(response, 400, "invalid-request");
    assert.deepEqual(problem["errors"], [
      { pointer: "/body/price", detail: "must be a whole number, at least 0, or a string, or null" },
      { pointer: "/body/nested/more", detail: "is not a known field" },
      { pointer: "/body/nested/id", detail: "must be a UUID, such as 01890a5d-ac96-774b-bcce-b302099a8057" },
    ]);
  });

  test("the error for a time in the query says how to write the + of a time zone", async () => {
    const times = (from: string): Promise<Response> => fetch(`${running.url}/times?from=${from}`);
    const problem = await assertProblem(await times("2026-11-16T17:00:00+01:00"), 400, "invalid-request");
    const detail = "must be a date and time with a time zone, such as 2026-03-18T09:30:00Z; in a URL, write + as %2B";
    assert.deepEqual(problem["errors"], [{ pointer: "/query/from", detail }]);
    assert.equal((await times("2026-11-16T17:00:00%2B01:00")).status, 200);
  });

  const expectPointers = async (response: Response, ...pointers: string[]): Promise<void> => {
    const problem = await assertProblem(response, 400, "invalid-request");
    assertSecurityHeaders(response, problem["instance"]);
    const errors = problem["errors"];
    assert.ok(Array.isArray(errors));
    assert.deepEqual(errors.map((each: { pointer: string }) => each.pointer).toSorted(), pointers.toSorted());
    for (const pointer of pointers) assert.ok(String(problem["detail"]).includes(pointer));
  };

  test("converts integers of a query, applies defaults, and keeps strings", async () => {
    assert.deepEqual(await (await search("size=12&q=12")).json(), { size: 12, page: 0, q: "12" });
    assert.deepEqual(await (await search("size=007")).json(), { size: 7, page: 0 });
  });

  test("a parameter without a value counts as absent", async () => {
    for (const blank of ["size=&q=&page=", "size&q&page"]) {
      assert.deepEqual(await (await search(blank)).json(), { page: 0 });
    }
    await expectPointers(await search("size=&size="), "/query/size");
    await expectPointers(await search("q=&q=a"), "/query/q");
  });

  for (const given of "0x10 1e2 %201 1%20 1.0 1.5 +1 %2B1 1_0 NaN Infinity true %D9%A1".split(" ")) {
    test(`size=${given} is not a whole number: 400`, async () => {
      await expectPointers(await search(`size=${given}`), "/query/size");
    });
  }

  for (const given of ["0", "-1", "101", "999999999999999", "9".repeat(400)]) {
    test(`size=${given.slice(0, 20)} is out of range: 400`, async () => {
      await expectPointers(await search(`size=${given}`), "/query/size");
    });
  }

  test("a scope that adds schemas of its own is as strict", async () => {
    await expectPointers(await fetch(`${running.url}/scoped?size=0x10&q=a&q=b`), "/query/size", "/query/q");
    assert.deepEqual(await (await fetch(`${running.url}/scoped?size=12`)).json(), { size: 12, page: 0 });
  });

  for (const [parameter, detail] of [
    ["size", "must be a whole number from 1 to 100"],
    ["page", "must be a whole number, at least 0"],
    ["top", "must be a whole number, at most 9"],
    ["nth", "must be a whole number"],
  ] as const) {
    test(`the error for ${parameter}=none names the bounds: ${detail}`, async () => {
      const { errors } = await assertProblem(await search(`${parameter}=none`), 400, "invalid-request");
      assert.deepEqual(errors, [{ pointer: `/query/${parameter}`, detail }]);
    });
  }

  for (const parameter of ["size", "q", "order", "state"]) {
    test(`a parameter that takes one value and is given twice is 400, which says so: ${parameter}`, async () => {
      const response = await search(`${parameter}=1&${parameter}=1`);
      const { errors } = await assertProblem(response, 400, "invalid-request");
      assert.deepEqual(errors, [{ pointer: `/query/${parameter}`, detail: "is given more than once" }]);
    });
  }

  test("a parameter that takes one value and is given twice is 400", async () => {
    await expectPointers(await search("size=1&size=2"), "/query/size");
    await expectPointers(await search("size=1&size=1"), "/query/size");
    await expectPointers(await search("q=a&q=b"), "/query/q");
  });

  test("reports every invalid parameter at once", async () => {
    await expectPointers(await search("size=x&page=-1&q=toolong"), "/query/size", "/query/page", "/query/q");
  });

  test("unknown query parameters are ignored, also given twice or with odd names", async () => {
    const response = await search("size=5&utm_source=x&utm_source=y&__proto__=1&constructor=2&[]=3&=4&&");
    assert.equal(response.status, 200);
    const given: Record<string, unknown> = JSON.parse(await response.text());
    assert.equal(given["size"], 5);
  });

  test("accepts a valid body unchanged", async () => {
    const given = { name: "é 💊", quantity: 3, owner: { id: "0198f3a0-0000-7000-8000-000000000000" }, tags: ["a"] };
    assert.deepEqual(await (await post(given)).json(), given);
  });

  test("an unknown body field is 400, also a nested one", async () => {
    await expectPointers(await post({ name: "a", colour: "red" }), "/body/colour");
    const owner = { id: "0198f3a0-0000-7000-8000-000000000000", age: 3 };
    await expectPointers(await post({ name: "a", owner }), "/body/owner/age");
  });

  test("a missing body field is 400, also a nested one", async () => {
    await expectPointers(await post({}), "/body/name");
    await expectPointers(await post({ name: "a", owner: {} }), "/body/owner/id");
  });

  test("a body field of the wrong type is 400: nothing is converted", async () => {
    await expectPointers(await post({ name: 1 }), "/body/name");
    await expectPointers(await post({ name: null }), "/body/name");
    await expectPointers(await post({ name: ["a"] }), "/body/name");
    await expectPointers(await post({ name: "a", quantity: "3" }), "/body/quantity");
    await expectPointers(await post({ name: "a", quantity: 1.5 }), "/body/quantity");
    await expectPointers(await post({ name: "a", tags: "a" }), "/body/tags");
    await expectPointers(await post({ name: "a", tags: ["a", 1] }), "/body/tags/1");
    await expectPointers(await post({ name: "a", owner: { id: "1" } }), "/body/owner/id");
  });

  test("a body that is no object at all is 400", async () => {
    for (const given of [null, [], "text", 1, true]) await expectPointers(await post(given), "/body");
  });

  test("escapes slashes and tildes in JSON Pointers", async () => {
    await expectPointers(await post({ name: "a", "x/y~z": 1 }), "/body/x~1y~0z");
  });

  test("an invalid path parameter is 400", async () => {
    await expectPointers(await fetch(`${running.url}/things/1`), "/path/id");
  });

  test("the alternatives of a field count as one of the reported errors", async () => {
    for (const given of [20, 1_000]) {
      const response = await fetch(`${running.url}/states`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(Array.from({ length: given }, () => "x")),
      });
      const { errors } = await assertProblem(response, 400, "invalid-request");
      const detail = 'must be "on", or "off"';
      const expected = Array.from({ length: 20 }, (_, nth) => ({ pointer: `/body/${nth}`, detail }));
      assert.deepEqual(errors, expected);
    }
  });

  test("limits the number of reported errors", async () => {
    const response = await post({ name: "a", tags: Array.from({ length: 8_000 }, () => 1) });
    const pointers = Array.from({ length: 20 }, (_, index) => `/body/tags/${index}`);
    await expectPointers(response, ...pointers);
  });
});
