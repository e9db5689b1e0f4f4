import assert from "node:assert/strict";
import { before, describe, type TestContext, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/tests/support";
import { type NameServer, startNameServer } from "./name-server.test-support.ts";
import { ok, onRequest, type Receiver, startReceiver } from "./receiver.test-support.ts";
import { createResolver } from "./resolver.ts";
import { createSender } from "./sender.ts";

const everywhere = ["0.0.0.0/0", "::/0"];
/** A public address that nothing listens on. */
const publicNowhere = "2000::1";

describe("a name that changes its address", () => {
  const cleanUp = cleanUpAfter();
  let local: Receiver;
  let other: Receiver;
  before(async () => {
    const response = (socket: Parameters<typeof onRequest>[0]): void => onRequest(socket, () => socket.write(ok()));
    local = await startReceiver(cleanUp, response);
    other = await startReceiver(cleanUp, response, { host: "127.0.0.2", port: local.port });
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
    const sender = createSender({ resolve: resolver.resolve, ...options });
    undo(() => sender.close());
    const sendTo = async (name: string, allowedNetworks: readonly string[] = []): Promise<string> => {
      const url = `${allowedNetworks.length === 0 ? "https" : "http"}://${name}:${local.port}/`;
      const sent = await sender.send({ url, headers: {}, body: "{}", allowedNetworks });
      return sent.outcome === "failed" ? `${sent.stage}: ${sent.reason}` : "answered";
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
    test(`to an internal one never gets a connection: ${name}`, async (t) => {
      const { sendTo } = await sending(t, { timeoutMs: 300 });
      for (const outcome of expected) {
        // Whether the address is routed depends on the machine.
        assert.equal((await sendTo(name)).replace(/connect: (unreachable|timed-out)/, "nowhere"), outcome);
      }
      assert.equal(local.connections.length, 0);
    });
  }

  test("is resolved once per connection, which goes to the resolved address", async (t) => {
    const { names, sendTo } = await sending(t);
    const reached = (): number[] => [local.connections.length, other.connections.length];
    assert.equal(await sendTo("allowed-first.example", ["127.0.0.1"]), "answered");
    assert.deepEqual(reached(), [1, 0]);
    assert.equal(names.queryCount("allowed-first.example"), 2, "one query per address family");
    assert.equal(await sendTo("allowed-first.example", ["127.0.0.1"]), "answered", "over the same connection");
    assert.equal(names.queryCount("allowed-first.example"), 2);

    assert.equal(await sendTo("allowed-first.example", ["127.0.0.1/32"]), refused);
    assert.equal(
      names.queryCount("allowed-first.example"),
      4,
      "other allowed networks need another connection and another query",
    );
    assert.deepEqual(reached(), [1, 0]);
  });

  test("to the metadata service's is refused at the next connection, whatever is allowed", async (t) => {
    const { sendTo } = await sending(t, { maxAgeMs: 0 });
    assert.equal(await sendTo("metadata-second.example", everywhere), "answered");
    assert.equal(await sendTo("metadata-second.example", everywhere), refused);
  });
});
