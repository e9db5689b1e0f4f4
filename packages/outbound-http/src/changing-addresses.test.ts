import assert from "node:assert/strict";
import { before, describe, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { type NameServer, startNameServer } from "@ehr-marketplace/test-kit/name-server";
import { ok, onRequest, type Receiver, startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import { createOutboundClient } from "./outbound-client.ts";
import { createResolver } from "./resolver.ts";

const everywhere = ["0.0.0.0/0", "::/0"];
/** Public as far as anybody can tell from the address, and nowhere. */
const publicNowhere = "2000::1";

describe("a name that changes its address", () => {
  const cleanUp = cleanUpAfter();
  let local: Receiver;
  let other: Receiver;
  before(async () => {
    const respond = (socket: Parameters<typeof onRequest>[0]): void => onRequest(socket, () => socket.write(ok()));
    local = await startReceiver(cleanUp, respond);
    other = await startReceiver(cleanUp, respond, { host: "127.0.0.2", port: local.port });
  });

  const zone = {
    "public-first.example": (query: number) => [query === 0 ? publicNowhere : "127.0.0.1"],
    "local-first.example": (query: number) => [query === 0 ? "127.0.0.1" : publicNowhere],
    "alternating.example": (query: number) => [query % 2 === 0 ? publicNowhere : "127.0.0.1"],
    "mixed.example": () => ["1.1.1.1", "127.0.0.1"],
    "mixed-the-other-way.example": () => ["127.0.0.1", "1.1.1.1"],
    "mixed-families.example": () => [publicNowhere, "127.0.0.1"],
    "mixed-with-mapped.example": () => [publicNowhere, "::ffff:7f00:1"],
    "allowed-first.example": (query: number) => [query === 0 ? "127.0.0.1" : "127.0.0.2"],
    "metadata-second.example": (query: number) => [query === 0 ? "127.0.0.1" : "169.254.169.254"],
  };

  async function sending(t: TestContext, options: { timeoutMs?: number; maxAgeMs?: number } = {}) {
    const undo = cleanUpAfter(t);
    const names: NameServer = await startNameServer(undo, zone);
    const resolver = createResolver(names);
    undo(async () => resolver.close());
    const client = createOutboundClient({ resolve: resolver.resolve, ...options });
    undo(() => client.close());
    const sendTo = async (name: string, allowedNetworks: readonly string[] = []): Promise<string> => {
      const url = `${allowedNetworks.length === 0 ? "https" : "http"}://${name}:${local.port}/`;
      const sent = await client.request({ url, headers: {}, body: "{}", allowedNetworks });
      return sent.outcome === "failed" ? `${sent.stage}: ${sent.reason}` : "responded";
    };
    return { names, sendTo };
  }

  const refused = "address: address-not-allowed";
  for (const [name, expected] of Object.entries({
    "public-first.example": ["nowhere", refused, refused],
    "local-first.example": [refused, "nowhere", "nowhere"],
    "alternating.example": ["nowhere", refused, "nowhere"],
    "mixed.example": [refused],
    "mixed-the-other-way.example": [refused],
    "mixed-families.example": [refused],
    "mixed-with-mapped.example": [refused],
  })) {
    test(`to one of ours never gets a connection: ${name}`, async (t) => {
      const { sendTo } = await sending(t, { timeoutMs: 2_000 });
      for (const outcome of expected) {
        // Whether there is a way to nowhere, each machine decides for itself.
        assert.equal((await sendTo(name)).replace(/connect: (unreachable|timed-out)/, "nowhere"), outcome);
      }
      assert.equal(local.connections.length, 0);
    });
  }

  test("is resolved once for each connection, and the connection goes there", async (t) => {
    const { names, sendTo } = await sending(t);
    const reached = (): number[] => [local.connections.length, other.connections.length];
    assert.equal(await sendTo("allowed-first.example", ["127.0.0.1"]), "responded");
    assert.deepEqual(reached(), [1, 0]);
    assert.equal(names.queries("allowed-first.example"), 2, "one query for each family");
    assert.equal(await sendTo("allowed-first.example", ["127.0.0.1"]), "responded", "over the same connection");
    assert.equal(names.queries("allowed-first.example"), 2);

    assert.equal(await sendTo("allowed-first.example", ["127.0.0.1/32"]), refused);
    assert.equal(names.queries("allowed-first.example"), 4, "other rules need another connection, and another query");
    assert.deepEqual(reached(), [1, 0]);
  });

  test("to that of credentials is refused at the next connection, whatever is allowed", async (t) => {
    const { sendTo } = await sending(t, { maxAgeMs: 1 });
    assert.equal(await sendTo("metadata-second.example", everywhere), "responded");
    await delay(5);
    assert.equal(await sendTo("metadata-second.example", everywhere), refused);
  });
});
