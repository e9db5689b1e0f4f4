import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { type Catalog, createCatalog } from "./catalog.ts";
import { type CatalogClient, createCatalogClient } from "./catalog-client.ts";

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

interface Upstream {
  client: CatalogClient;
  requests: IncomingMessage[];
  respondWith: (respond: Respond) => void;
  advance: (milliseconds: number) => void;
}

const sendJson = (response: ServerResponse, body: string, etag = '"1"'): void => {
  response.writeHead(200, { "content-type": "application/json", etag }).end(body);
};

async function startUpstream(t: TestContext, timeoutMs = 5_000): Promise<Upstream> {
  let respond: Respond = (_request, response) => sendJson(response, '{"name":"one"}');
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    respond(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  let now = Date.parse("2026-11-17T12:00:00Z");
  return {
    client: createCatalogClient({
      marketplaceUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`,
      logger: { warn: () => undefined },
      clock: () => new Date(now),
      timeoutMs,
    }),
    requests,
    respondWith: (next) => {
      respond = next;
    },
    advance: (milliseconds) => {
      now += milliseconds;
    },
  };
}

const app = { path: "/apps/one", clientAddress: "203.0.113.7" };
const fail: Respond = (_request, response) => response.writeHead(500).end();

const isUnavailable = (error: unknown): boolean =>
  error instanceof Problem && error.kind.code === "upstream-unavailable";

test("sends the reader's address, and requests nothing else while the data is fresh", async (t) => {
  const { client, requests, advance } = await startUpstream(t);
  const reading = await client.read<{ name: string }>(app);
  advance(29_999);
  assert.equal((await client.read(app))?.data, reading?.data);
  assert.deepEqual(
    requests.map(({ url, headers }) => [url, headers["x-forwarded-for"]]),
    [["/api/v1/apps/one", "203.0.113.7"]],
  );
});

test("keeps the same object as long as the ETag stays the same", async (t) => {
  const { client, requests, advance, respondWith } = await startUpstream(t);
  const first = await client.read(app);
  advance(30_000);
  respondWith((_request, response) => response.writeHead(304).end());
  const second = await client.read(app);
  assert.equal(second?.data, first?.data);
  assert.deepEqual([requests[1]?.headers["if-none-match"], second?.isStale], ['"1"', false]);
  advance(30_000);
  respondWith((_request, response) => sendJson(response, '{"name":"two"}', '"2"'));
  assert.deepEqual((await client.read(app))?.data, { name: "two" });
});

test("several waiting readers cause one request", async (t) => {
  const { client, requests } = await startUpstream(t);
  const readings = await Promise.all(Array.from({ length: 20 }, () => client.read(app)));
  assert.equal(new Set(readings.map((reading) => reading?.data)).size, 1);
  assert.equal(requests.length, 1);
});

test("while the marketplace fails, data is stale for a day, and readers don't wait", async (t) => {
  const { client, requests, advance, respondWith } = await startUpstream(t);
  await client.read(app);
  respondWith(fail);
  advance(60_000);
  const stale = await client.read<{ name: string }>(app);
  assert.deepEqual([stale?.isStale, stale?.currentAt.toISOString()], [true, "2026-11-17T12:00:00.000Z"]);
  await client.read(app);
  assert.equal(requests.length, 2, "the second reader of stale data causes no request");
  advance(86_400_000);
  await assert.rejects(client.read(app), isUnavailable);
  respondWith((_request, response) => sendJson(response, '{"name":"back"}'));
  assert.deepEqual((await client.read(app))?.isStale, false);
});

test("without earlier data, a failure is a problem that names the marketplace", async (t) => {
  const { client, respondWith } = await startUpstream(t);
  respondWith(fail);
  await assert.rejects(client.read(app), isUnavailable);
});

const otherReader = { ...app, clientAddress: "198.51.100.3" };
/** As the marketplace does for an address that asks too often. */
const limit =
  (address: string): Respond =>
  (request, response) => {
    if (request.headers["x-forwarded-for"] === address) response.writeHead(429, { "retry-after": "7" }).end();
    else sendJson(response, '{"name":"two"}', '"2"');
  };
const isLimited = (error: unknown): boolean =>
  error instanceof Problem && error.kind.status === 429 && error.headers["retry-after"] === "7";

test("a reader who asks too often gets what is known, and the next reader what is current", async (t) => {
  const { client, advance, respondWith } = await startUpstream(t);
  const first = await client.read(app);
  respondWith(limit(app.clientAddress));
  advance(60_000);
  assert.deepEqual(await client.read(app), first);
  const next = await client.read(otherReader);
  assert.deepEqual([next?.data, next?.isStale], [{ name: "two" }, false]);
  advance(600_001);
  assert.equal((await client.read(app))?.isStale, true, "what is shown as current isn't old");
  advance(86_400_000);
  await assert.rejects(client.read(app), isLimited);
});

test("a reader who asks too often is told so, also while others wait for the same, who aren't", async (t) => {
  const { client, requests, respondWith } = await startUpstream(t);
  respondWith(limit(app.clientAddress));
  const readers = [app, app, otherReader, otherReader, otherReader];
  const readings = await Promise.allSettled(readers.map((reader) => client.read(reader)));
  assert.deepEqual(
    readings.map((reading) => (reading.status === "fulfilled" ? reading.value?.data : isLimited(reading.reason))),
    [true, true, { name: "two" }, { name: "two" }, { name: "two" }],
  );
  assert.equal(requests.length, 2, "one for each address");
});

test("what is read past the cache is neither taken from there nor kept", async (t) => {
  const { client, requests } = await startUpstream(t);
  for (let nth = 0; nth < 2; nth += 1) assert.deepEqual(await client.readUncached(app), { name: "one" });
  await client.read(app);
  assert.deepEqual(await client.readUncached(app), { name: "one" });
  assert.equal(requests.length, 4);
});

type Read = (catalog: Catalog, nth: number) => Promise<unknown>;
const entered: Record<string, Read> = {
  searches: (catalog, nth) => catalog.searchApps({ q: String(nth), limit: 20 }),
  "invented vendors": (catalog, nth) => catalog.listApps({ vendor: `invented-${nth}`, size: 20 }),
  "invented categories": (catalog, nth) => catalog.listApps({ category: `INVENTED_${nth}`, size: 20 }),
  "pages of lists": (catalog, nth) => catalog.listApps({ page: nth + 1, size: 20 }),
  "pages of versions": (catalog, nth) => catalog.listVersions("one", `after-${nth}`),
};
for (const [what, read] of Object.entries(entered)) {
  test(`${what} of one reader don't displace what all need during an outage, however many`, async (t) => {
    const { client, requests, respondWith } = await startUpstream(t);
    const catalog = createCatalog(client, app.clientAddress);
    const readNeeded = async (): Promise<void> => {
      await Promise.all([catalog.getApp("one"), catalog.listApps({ size: 20 }), catalog.listVersions("one")]);
    };
    await readNeeded();
    const large = JSON.stringify(["x".repeat(1_048_576)]);
    respondWith((_request, response) => sendJson(response, large));
    for (let nth = 0; nth < 40; nth += 1) await read(catalog, nth);
    assert.equal(requests.length, 43);
    await readNeeded();
    await read(catalog, 39);
    assert.equal(requests.length, 43, "these and the last one are cached");
  });
}

test("what doesn't exist isn't cached", async (t) => {
  const { client, respondWith } = await startUpstream(t);
  respondWith((_request, response) => response.writeHead(404).end());
  assert.equal(await client.read(app), undefined);
  respondWith((_request, response) => sendJson(response, '{"name":"new"}'));
  assert.deepEqual((await client.read(app))?.data, { name: "new" });
});

test("a response that doesn't end is given up after the time limit", async (t) => {
  const { client, respondWith } = await startUpstream(t, 100);
  respondWith((_request, response) => response.writeHead(200).write("["));
  await assert.rejects(client.read(app), isUnavailable);
});

test("a response without end is given up at the size limit", async (t) => {
  const { client, respondWith } = await startUpstream(t, 30_000);
  const chunk = Buffer.alloc(1_048_576, " ");
  respondWith((_request, response) => {
    response.writeHead(200);
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once("drain", write);
    };
    write();
  });
  await assert.rejects(client.read(app), isUnavailable);
});

test("redirects aren't followed", async (t) => {
  const { client, respondWith } = await startUpstream(t);
  respondWith((_request, response) => response.writeHead(302, { location: "http://127.0.0.1:9/" }).end());
  await assert.rejects(client.read(app), isUnavailable);
});

test("requests with a body are sent by POST, and large amounts stay exact", async (t) => {
  const { client, requests, respondWith } = await startUpstream(t);
  respondWith((_request, response) => sendJson(response, '{"total":9007199254740993,"small":12,"rate":0.5}'));
  const reading = await client.read({ ...app, path: "/apps/one/estimate", body: { quantity: 2 } });
  assert.deepEqual(reading?.data, { total: 9_007_199_254_740_993n, small: 12, rate: 0.5 });
  assert.equal(requests[0]?.method, "POST");
});

test("a long number in a vendor's schema doesn't have each value of the response looked at", async (t) => {
  const { client, respondWith } = await startUpstream(t);
  respondWith((_request, response) => sendJson(response, '{"configSchema":{"maximum":9007199254740993}}'));
  assert.deepEqual((await client.read(app))?.data, { configSchema: { maximum: 2 ** 53 } });
});
