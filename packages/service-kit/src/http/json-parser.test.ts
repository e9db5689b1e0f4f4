import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { requireNoBody } from "./json-parser.ts";
import { assertSecurityHeaders, rawResponse, startTestServer, type TestServer } from "./server.test-support.ts";

describe("the JSON parser", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, {
      routes: (server) => {
        server.post("/echo", (request, reply) => reply.send({ body: request.body }));
        server.post("/object", { schema: { body: { type: "object" } } }, (_request, reply) => reply.send({}));
        server.post(
          "/optional",
          { schema: { body: { type: "object" } }, config: { bodyMayBeOmitted: true } },
          (request, reply) => reply.send({ body: request.body }),
        );
        server.post("/large", { bodyLimit: 65_536 }, (_request, reply) => reply.send({}));
        server.post("/huge", { bodyLimit: 1_048_576 }, (_request, reply) => reply.send({}));
        server.post("/bodiless", { preValidation: requireNoBody }, (request, reply) =>
          reply.send({ hasBody: request.body !== undefined }),
        );
      },
    });
  });
  const post = (
    body: string | Uint8Array<ArrayBuffer>,
    contentType: string | null = "application/json",
    path = "/echo",
  ): Promise<Response> =>
    fetch(`${running.url}${path}`, {
      method: "POST",
      headers: contentType === null ? {} : { "content-type": contentType },
      body,
    });
  const expectProblem = async (response: Response, status: number, code: string): Promise<Record<string, unknown>> => {
    const problem = await assertProblem(response, status, code);
    assertSecurityHeaders(response, problem["instance"]);
    return problem;
  };
  const bodyOf = (bytes: number): string => `"${"x".repeat(bytes - 2)}"`;

  for (const [malformed, where] of [
    ["{", "; see line 1, column 2"],
    ['{"a":1,}', "; see line 1, column 8"],
    ["{'a':1}", "; see line 1, column 2"],
    ["NaN", "; see line 1, column 1"],
    ['{"a":1}{"b":2}', "; see line 1, column 8"],
    ['{\n  "a": secret\n}', "; see line 2, column 8"],
    ['"\u0000"', "; see line 1, column 1"],
    ["\ufeff", "; see line 1, column 2"],
    ['{"__proto__":{}}', ""],
  ] as const) {
    test(`malformed JSON is 400, with the position and without the text: ${JSON.stringify(malformed)}`, async () => {
      const { detail } = await expectProblem(await post(malformed), 400, "invalid-request");
      assert.equal(detail, `The body is not valid JSON${where}.`);
    });
  }

  test("an optional body is validated if present", async () => {
    await expectProblem(await post("null", "application/json", "/optional"), 400, "invalid-request");
    assert.deepEqual(await (await post('{"a":1}', "application/json", "/optional")).json(), { body: { a: 1 } });
  });

  for (const type of [
    "application/json",
    "application/x-www-form-urlencoded",
    "text/plain;charset=UTF-8",
    "multipart/form-data; boundary=x",
    "nonsense",
    null,
  ]) {
    test(`an empty body is no body, and 400 only if one is required: ${type}`, async () => {
      const { detail, errors } = await expectProblem(await post("", type, "/object"), 400, "invalid-request");
      assert.equal(detail, "/body is required; send a JSON object.");
      assert.deepEqual(errors, [{ pointer: "/body", detail: "is required; send a JSON object" }]);
      assert.equal((await post("", type, "/bodiless")).status, 200);
      assert.deepEqual(await (await post("", type, "/optional")).json(), { body: {} });
    });
  }

  test("an empty body without Content-Length is no body", async () => {
    for (const type of ["application/json", "text/plain"]) {
      const head = `POST /bodiless HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: ${type}\r\n`;
      assert.equal((await rawResponse(running, `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`)).status, 200);
    }
  });

  test("a route without a body refuses a body with content, and accepts an empty object", async () => {
    const { detail } = await expectProblem(
      await post('{"reason":"x"}', "application/json", "/bodiless"),
      400,
      "invalid-request",
    );
    assert.match(String(detail), /^\/body must be omitted/);
    assert.deepEqual(await (await post("{}", "application/json", "/bodiless")).json(), { hasBody: false });
    await expectProblem(await post("null", "application/json", "/bodiless"), 400, "invalid-request");
  });

  for (const [path, limit, bytes] of [
    ["/echo", "16 KiB", 16_384],
    ["/large", "64 KiB", 65_536],
    ["/huge", "1 MiB", 1_048_576],
  ] as const) {
    test(`${path} accepts ${limit}; one byte more is 413, and the problem names the limit`, async () => {
      assert.equal((await post(bodyOf(bytes), "application/json", path)).status, 200);
      const refused = await post(bodyOf(bytes + 1), "application/json", path);
      const { detail } = await expectProblem(refused, 413, "payload-too-large");
      assert.equal(detail, `The body is larger than ${limit}, the limit of this route.`);
    });
  }

  for (const [what, open, close] of [
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
  ] as const) {
    test(`${what} nested 64 levels deep are read, and one level more is 400`, async () => {
      const nested = (levels: number): string => `${open.repeat(levels)}1${close.repeat(levels)}`;
      assert.equal((await post(nested(64))).status, 200);
      for (const text of [nested(65), nested(1_000), open.repeat(1_000)]) {
        const { errors } = await expectProblem(await post(text), 400, "invalid-request");
        assert.deepEqual(errors, [{ pointer: "/body", detail: "nests deeper than 64 levels" }]);
      }
    });
  }

  test("a body over the limit is 413 also without Content-Length", async () => {
    const head =
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    const chunk = `4001\r\n${"1".repeat(16_385)}\r\n`;
    await expectProblem(await rawResponse(running, head, chunk), 413, "payload-too-large");
  });

  for (const type of [
    "text/plain",
    "text/xml",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "nonsense",
    "application/json5",
  ]) {
    test(`a body of another type is 415: ${type}`, async () => {
      const response = await post("{}", type);
      const { detail } = await expectProblem(response, 415, "unsupported-media-type");
      assert.equal(detail, `The Content-Type of the body, "${type}", is not supported; accepted: application/json.`);
      assert.equal(response.headers.get("accept"), "application/json");
    });
  }

  test("a body without a type is 415", async () => {
    const response = await post(new Uint8Array([123, 125]), null);
    const { detail } = await expectProblem(response, 415, "unsupported-media-type");
    assert.equal(detail, "The body has no Content-Type; accepted: application/json.");
  });

  test("a 415 quotes at most 100 characters of the media type, as JSON and without its parameters", async () => {
    for (const [type, quoted] of [
      [`text/${"x".repeat(200)}`, `"text/${"x".repeat(95)}"`],
      ['"; charset=utf-8', String.raw`"\""`],
    ] as const) {
      const { detail } = await expectProblem(await post("{}", type), 415, "unsupported-media-type");
      assert.equal(detail, `The Content-Type of the body, ${quoted}, is not supported; accepted: application/json.`);
    }
  });

  test("accepts JSON with a charset", async () => {
    assert.deepEqual(await (await post('{"a":"é"}', "application/json; charset=utf-8")).json(), { body: { a: "é" } });
  });

  for (const [what, bytes, line] of [
    ["Latin-1", Buffer.from('{"name":"Caf\u00e9"}', "latin1"), 1],
    ["an incomplete character in the third line", Buffer.from([0x7b, 0x0a, 0x0a, 0x22, 0xc3, 0x0a, 0x22, 0x7d]), 3],
    ["an encoded surrogate at the end", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 1],
  ] as const) {
    test(`a body that isn't UTF-8 is 400, and the problem names the line: ${what}`, async () => {
      const { detail } = await expectProblem(await post(new Uint8Array(bytes)), 400, "invalid-request");
      assert.equal(detail, `The body is not valid UTF-8; see line ${line}.`);
    });
  }

  for (const [given, pointer] of [
    ['"a\\u0000b"', "/body"],
    ['{"name":"\\u0000"}', "/body/name"],
    ['{"list":[1,{"deep":"x\\u0000"}]}', "/body/list/1/deep"],
    ['{"na\\u0000me":1}', "/body"],
  ] as const) {
    test(`NUL in a body is 400: ${given}`, async () => {
      const problem = await expectProblem(await post(given), 400, "invalid-request");
      assert.deepEqual(problem["errors"], [{ pointer, detail: "contains a NUL character, which is never valid" }]);
    });
  }

  for (const [given, pointer] of [
    [String.raw`"\ud800"`, "/body"],
    [String.raw`{"name":"a\udc00b"}`, "/body/name"],
    [String.raw`{"name":"\ude00\ud83d"}`, "/body/name"],
    [String.raw`{"list":[1,{"deep":"\ud83d "}]}`, "/body/list/1/deep"],
    [String.raw`{"list":[{"na\ud800me":1}]}`, "/body/list/0"],
  ] as const) {
    test(`half of a surrogate pair in a body is 400: ${given}`, async () => {
      const problem = await expectProblem(await post(given), 400, "invalid-request");
      assert.deepEqual(problem["errors"], [
        { pointer, detail: "contains half of a surrogate pair, which is never valid" },
      ]);
    });
  }

  test("accepts surrogate pairs, escaped and not", async () => {
    assert.deepEqual(await (await post(String.raw`{"\ud83d\ude00":"😀"}`)).json(), { body: { "😀": "😀" } });
  });

  test("accepts text that only looks like an escaped NUL", async () => {
    assert.deepEqual(await (await post('{"name":"\\\\u0000"}')).json(), { body: { name: "\\u0000" } });
  });

  test("logs no error when a client disconnects while sending its body", async () => {
    const socket = connect(running.port, "127.0.0.1");
    socket.write("POST /echo HTTP/1.1\r\nHost: a\r\nX-Request-Id: gone-away\r\n");
    socket.write("Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
    const [, response] = await once(running.server.server, "request");
    socket.destroy();
    await once(response, "close");
    await (await post("1")).text();
    assert.deepEqual(
      running.logged.filter((line) => line["level"] === "error"),
      [],
    );
  });
});
