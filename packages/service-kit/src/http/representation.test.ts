import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { before, describe, test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { createRepresentation, sendRepresentation } from "./representation.ts";
import { startTestServer, type TestServer } from "./server.test-support.ts";

const large = "a text worth compressing; ".repeat(100);
const small = "x".repeat(1_023);
const options = { contentType: "text/plain; charset=utf-8", cacheControl: "public, max-age=30" };

interface Answer {
  status: number | undefined;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

describe("a representation", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    const [largeOne, smallOne] = [large, small].map((text) => createRepresentation(text, options));
    running = await startTestServer(cleanUp, {
      routes: (server) => {
        for (const [path, one] of [["/large", largeOne] as const, ["/small", smallOne] as const]) {
          if (one !== undefined) server.get(path, (asked, reply) => sendRepresentation(asked, reply, one));
        }
      },
    });
  });

  /** Doesn't use fetch(), which requests and decodes content codings itself. */
  const get = async (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> => {
    const [response]: IncomingMessage[] = await once(
      request(`${running.url}${path}`, { method, headers }).end(),
      "response",
    );
    assert.ok(response);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
  };
  const etagOf = async (coding: string): Promise<string> =>
    String((await get("/large", { "accept-encoding": coding })).headers["etag"]);

  test("is sent uncompressed without Accept-Encoding, with type, caching, ETag and Vary", async () => {
    const { status, headers, body } = await get("/large");
    assert.equal(status, 200);
    assert.equal(body.toString(), large);
    assert.equal(headers["content-encoding"], undefined);
    assert.equal(headers["content-type"], options.contentType);
    assert.equal(headers["cache-control"], options.cacheControl);
    assert.equal(headers["vary"], "accept-encoding");
    assert.equal(headers["content-length"], String(large.length));
  });

  test("prefers brotli over gzip, whatever the order, unless the client sets weights", async () => {
    for (const [accepted, coding] of [
      ["gzip, deflate, br", "br"],
      ["br, gzip", "br"],
      ["*", "br"],
      ["gzip", "gzip"],
      ["br;q=0.5, gzip;q=0.9", "gzip"],
      ["br;q=0, gzip", "gzip"],
    ]) {
      const { headers, body } = await get("/large", { "accept-encoding": String(accepted) });
      assert.equal(headers["content-encoding"], coding, accepted);
      const plain = coding === "br" ? brotliDecompressSync(body) : gunzipSync(body);
      assert.equal(plain.toString(), large);
      assert.equal(headers["vary"], "accept-encoding");
    }
  });

  test("isn't compressed below 1 KiB", async () => {
    const { headers, body } = await get("/small", { "accept-encoding": "br" });
    assert.equal(headers["content-encoding"], undefined);
    assert.equal(body.toString(), small);
  });

  for (const garbage of [
    "",
    ",",
    ";;;q",
    "br;q=banana",
    "q=1",
    "\u00ff\u00fe",
    "br;q=0, gzip;q=0",
    "x".repeat(8_000),
  ]) {
    test(`is sent uncompressed for Accept-Encoding ${JSON.stringify(garbage.slice(0, 20))}`, async () => {
      const { status, headers, body } = await get("/large", { "accept-encoding": garbage });
      assert.deepEqual([status, headers["content-encoding"], body.toString()], [200, undefined, large]);
    });
  }

  test("has a strong ETag that differs for each coding", async () => {
    const etags = await Promise.all(["identity", "gzip", "br"].map(etagOf));
    for (const etag of etags) assert.match(etag, /^"[\w-]+"$/);
    assert.equal(new Set(etags).size, 3);
    assert.notEqual((await get("/small")).headers["etag"], etags[0]);
  });

  for (const [how, given] of [
    ["the ETag", (etag: string) => etag],
    ["a list with the ETag", (etag: string) => `"other", ${etag} ,"more"`],
    ["a weak ETag", (etag: string) => `W/${etag}`],
    ["a list with a weak ETag", (etag: string) => `"other",W/${etag}`],
    ["*", () => "*"],
  ] as const) {
    test(`If-None-Match with ${how} gets 304 without a body, in each coding`, async () => {
      for (const coding of ["identity", "gzip", "br"]) {
        const etag = await etagOf(coding);
        const { status, headers, body } = await get("/large", {
          "accept-encoding": coding,
          "if-none-match": given(etag),
        });
        assert.equal(status, 304);
        assert.equal(body.length, 0);
        assert.deepEqual([headers["etag"], headers["vary"]], [etag, "accept-encoding"]);
        assert.equal(headers["cache-control"], options.cacheControl);
      }
    });
  }

  test("is sent in full for If-None-Match with another ETag, or that of another coding", async () => {
    const gzipped = await etagOf("gzip");
    for (const etag of ['"other"', gzipped, gzipped.replaceAll('"', ""), ""]) {
      const { status, body } = await get("/large", { "if-none-match": etag });
      assert.deepEqual([status, body.toString()], [200, large], etag);
    }
  });

  test("has the same headers for HEAD, without a body", async () => {
    const [head, whole] = [await get("/large", {}, "HEAD"), await get("/large")];
    assert.equal(head.status, 200);
    assert.equal(head.body.length, 0);
    for (const name of ["etag", "content-length", "content-type", "vary", "cache-control"]) {
      assert.equal(head.headers[name], whole.headers[name], name);
    }
  });
});
