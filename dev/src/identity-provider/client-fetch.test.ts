import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { createClientFetch } from "./client-fetch.ts";

describe("what a vendor names is fetched", () => {
  const cleanUp = cleanUpAfter();
  const addresses: Record<string, string> = {
    "private.example": "10.1.2.3",
    "metadata.example": "169.254.169.254",
    "public.example": "203.0.113.7",
  };
  const clientFetch = createClientFetch(async (hostname) => [{ address: addresses[hostname] ?? "::", family: 4 }]);

  async function startServer(): Promise<string> {
    const server = createServer((request, response) => {
      if (request.url === "/moved") response.writeHead(302, { location: "/" });
      response.end("fine");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUp(async () => {
      server.close();
      server.closeAllConnections();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test("from the loopback, without following redirects", async () => {
    const url = await startServer();
    assert.equal(await (await clientFetch(url)).text(), "fine");
    await assert.rejects(clientFetch(`${url}/moved`), TypeError);
  });

  for (const [url, refusal] of [
    ["https://10.1.2.3/jwks.json", "address-not-allowed"],
    ["https://[fd00::1]/jwks.json", "address-not-allowed"],
    ["https://private.example/jwks.json", "address-not-allowed"],
    ["https://metadata.example/latest", "address-not-allowed"],
    ["http://169.254.169.254/latest", "address-not-allowed"],
    ["http://8.8.8.8/jwks.json", "plain-http-not-allowed"],
    ["https://user:secret@8.8.8.8/jwks.json", "url-invalid"],
  ] as const) {
    test(`and nothing is sent to ${url}`, async () => {
      await assert.rejects(clientFetch(url), new RegExp(refusal));
    });
  }
});
