import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { assertProblem, cleanUpAfter } from "@ehr-marketplace/tests/support";
import { assertGuarded, startTestServer, type TestServer } from "./server.test-support.ts";

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
  },
};
const body = closed(["name"], {
  name: text,
  quantity: { type: "integer" },
  owner: closed(["id"], { id: uuid }),
  tags: { type: "array", items: text },
});

describe("what comes in is held against its schema, and nothing is bent to fit", () => {
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
  const expectPointers = async (answer: Response, ...pointers: string[]): Promise<void> => {
    const problem = await assertProblem(answer, 400, "invalid-request");
    assertGuarded(answer, problem["instance"]);
    const errors = problem["errors"];
    assert.ok(Array.isArray(errors));
    assert.deepEqual(errors.map((each: { pointer: string }) => each.pointer).toSorted(), pointers.toSorted());
    for (const pointer of pointers) assert.ok(String(problem["detail"]).includes(pointer));
  };

  test("a query's whole numbers are numbers, its defaults are filled in, and its strings stay strings", async () => {
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

  test("a parameter that takes one value and is given twice is 400", async () => {
    await expectPointers(await search("size=1&size=2"), "/query/size");
    await expectPointers(await search("size=1&size=1"), "/query/size");
    await expectPointers(await search("q=a&q=b"), "/query/q");
  });

  test("every wrong parameter is pointed at, at once", async () => {
    await expectPointers(await search("size=x&page=-1&q=toolong"), "/query/size", "/query/page", "/query/q");
  });

  test("unknown query parameters are ignored, also given twice or with odd names", async () => {
    const answer = await search("size=5&utm_source=x&utm_source=y&__proto__=1&constructor=2&[]=3&=4&&");
    assert.equal(answer.status, 200);
    const given: Record<string, unknown> = JSON.parse(await answer.text());
    assert.equal(given["size"], 5);
  });

  test("a body that fits is taken as it is", async () => {
    const given = { name: "é 💊", quantity: 3, owner: { id: "0198f3a0-0000-7000-8000-000000000000" }, tags: ["a"] };
    assert.deepEqual(await (await post(given)).json(), given);
  });

  test("an unknown body field is 400, also further down", async () => {
    await expectPointers(await post({ name: "a", colour: "red" }), "/body/colour");
    const owner = { id: "0198f3a0-0000-7000-8000-000000000000", age: 3 };
    await expectPointers(await post({ name: "a", owner }), "/body/owner/age");
  });

  test("a missing body field is 400, also further down", async () => {
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

  test("what has a slash or a tilde in its name is pointed at by a valid JSON Pointer", async () => {
    await expectPointers(await post({ name: "a", "x/y~z": 1 }), "/body/x~1y~0z");
  });

  test("a path parameter that doesn't fit is 400", async () => {
    await expectPointers(await fetch(`${running.url}/things/1`), "/path/id");
  });

  test("however much is wrong, the answer stays short", async () => {
    const answer = await post({ name: "a", tags: Array.from({ length: 8_000 }, () => 1) });
    const pointers = Array.from({ length: 20 }, (_, index) => `/body/tags/${index}`);
    await expectPointers(answer, ...pointers);
  });
});
