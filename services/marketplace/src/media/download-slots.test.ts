import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { before, describe, test } from "node:test";
import type { MediaDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { pdf } from "./files.test-support.ts";

const [slots, ofOneNetwork] = [64, 16];
const largeBytes = 100_000;
const vendor = "northwind-developer";
const path = "/developer/apps/read-slowly/media";

describe("clients that read files slowly", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let large: MediaDto;
  let small: MediaDto;
  const upload = async (text: string): Promise<MediaDto> => {
    const headers = { "content-type": "application/pdf" };
    const response = await marketplace.requestAs(vendor, `${path}?kind=document`, { body: pdf(text), headers });
    assert.equal(response.status, 201);
    return (await response.json()) as MediaDto;
  };
  before(async () => {
    // What the readers don't read, the marketplace doesn't read either: the server of the bucket never sends the end of large files.
    const objects = new Map<string, Buffer>();
    const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const [key = ""] = (request.url ?? "").split("?");
      if (request.method === "PUT") objects.set(key, await buffer(request));
      const bytes = request.method === "GET" ? (objects.get(key) ?? Buffer.alloc(0)) : Buffer.alloc(0);
      response.setHeader("content-length", bytes.length);
      if (bytes.length > largeBytes) response.write(bytes.subarray(0, 10));
      else response.end(bytes);
    };
    const server = createServer((...exchange) => void respond(...exchange)).listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUp(async () => {
      server.closeAllConnections();
      server.close();
    });
    marketplace = await startMarketplaceWithCallers(cleanUp, {
      MEDIA_BUCKET: "media",
      MEDIA_DIRECTORY: "",
      MEDIA_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      MEDIA_ACCESS_KEY_ID: "key",
      MEDIA_SECRET_ACCESS_KEY: "secret",
      TRUSTED_PROXIES: "127.0.0.0/8",
    });
    const body = { slug: "read-slowly", name: "Read slowly" };
    assert.equal((await marketplace.requestAs(vendor, "/developer/apps", { body })).status, 201);
    large = await upload("x".repeat(2 * largeBytes));
    small = await upload("small");
    await withClient(marketplace.database.ownerUrl, (client) =>
      client.query("update media set published_at = now() where id = any ($1)", [[large.id, small.id]]),
    );
  });

  /** Requests the large file, and returns when its slot is taken: the response has begun. */
  const read = async (url: string, headers: Record<string, string>): Promise<AbortController> => {
    const reader = new AbortController();
    cleanUp(async () => reader.abort());
    const { status } = await fetch(`${marketplace.url}${url}`, { headers, signal: reader.signal });
    assert.equal(status, 200);
    return reader;
  };
  const readPublic = (address: string): Promise<Response> =>
    fetch(`${marketplace.url}/media/${small.id}`, { headers: { "x-forwarded-for": address } });

  test("have 16 downloads in an IPv6 network, whatever the address, and leave the rest to others", async () => {
    const readSlowly = (_: unknown, nth: number): Promise<AbortController> =>
      read(`/media/${large.id}`, { "x-forwarded-for": `2001:db8::${nth + 1}` });
    const readers = await Promise.all(Array.from({ length: ofOneNetwork }, readSlowly));
    await assertProblem(await readPublic("2001:db8::eeee"), 503, "overloaded");
    assert.equal((await readPublic("2001:db8:0:1::1")).status, 200);
    for (const reader of readers) reader.abort();
    await eventually("the share is free", 30_000, async () => (await readPublic("2001:db8::1")).status === 200);
  });

  test("of drafts, delay neither public files nor uploads", async () => {
    const token = marketplace.callers.token(vendor);
    for (let network = 0; network < slots / ofOneNetwork; network += 1) {
      const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": `203.0.113.${network}` };
      await Promise.all(Array.from({ length: ofOneNetwork }, () => read(`/api/v1${path}/${large.id}`, headers)));
    }
    const headers = { "x-forwarded-for": "198.51.100.1" };
    const draft = await marketplace.requestAs(vendor, `${path}/${small.id}`, { headers });
    await assertProblem(draft, 503, "overloaded");
    assert.equal((await readPublic("198.51.100.1")).status, 200);
    await upload("another");
  });
});
