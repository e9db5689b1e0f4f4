import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { startNameServer } from "@ehr-marketplace/test-kit/name-server";
import { ok, onRequest, startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import { createOutboundClient } from "./outbound-client.ts";
import { createResolver } from "./resolver.ts";

const zone = {
  "four.example": () => ["192.0.2.4"],
  "both.example": () => ["192.0.2.4", "2001:db8::4"],
  "none.example": () => [],
  "broken.example": () => "broken" as const,
  "half-broken.example": (_query: number, family: 4 | 6) => (family === 4 ? ["192.0.2.4"] : ("broken" as const)),
  "half-empty.example": (_query: number, family: 4 | 6) => (family === 4 ? [] : ("broken" as const)),
  "silent.example": () => "silence" as const,
};

describe("a name", () => {
  const known: Record<string, string[]> = {
    "four.example": ["192.0.2.4"],
    "both.example": ["192.0.2.4", "2001:db8::4"],
    "half-broken.example": ["192.0.2.4"],
    "listed.example": ["192.0.2.9", "2001:db8::9"],
    "listed.example.": ["192.0.2.9", "2001:db8::9"],
    "alias.example": ["192.0.2.9"],
  };
  const hosts = "# ours\n192.0.2.9 listed.example\tAlias.Example # and why\n2001:db8::9 listed.example\n\nnonsense x\n";
  for (const [name, addresses] of Object.entries(known)) {
    test(`has all its addresses, from the name server or the hosts file: ${name}`, async (t) => {
      const cleanUp = cleanUpAfter(t);
      const resolver = createResolver({ ...(await startNameServer(cleanUp, zone)), hosts });
      const found = await resolver.resolve(name);
      assert.deepEqual(
        found,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
    });
  }

  for (const [name, expected] of Object.entries({
    "unheard-of.example": "resolve: dns-not-found",
    "none.example": "resolve: dns-not-found",
    "broken.example": "resolve: dns-failed",
    "half-empty.example": "resolve: dns-failed",
    "silent.example": "resolve: timed-out",
    localhost: "address: address-not-allowed",
  })) {
    test(`${name} is one failure: ${expected}`, async (t) => {
      const cleanUp = cleanUpAfter(t);
      const resolver = createResolver(await startNameServer(cleanUp, zone));
      cleanUp(async () => resolver.close());
      const client = createOutboundClient({
        timeoutMs: expected.endsWith("timed-out") ? 300 : 30_000,
        resolve: resolver.resolve,
      });
      cleanUp(() => client.close());
      const sent = await client.request({ url: `https://${name}/`, headers: {}, body: "{}", allowedNetworks: [] });
      assert.equal(sent.outcome === "failed" && `${sent.stage}: ${sent.reason}`, expected);
    });
  }
});

test("names whose servers are silent don't delay others", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const resolver = createResolver(await startNameServer(cleanUp, zone));
  cleanUp(async () => resolver.close());
  const silent = Array.from({ length: 100 }, () => resolver.resolve("silent.example").catch(() => "gave up"));
  const waiting = Symbol("waiting");
  assert.equal((await resolver.resolve("four.example")).length, 1);
  assert.equal(await Promise.race([...silent, Promise.resolve(waiting)]), waiting);
});

test("a name that is resolved after the deadline opens no connection", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, (socket) => onRequest(socket, () => socket.write(ok())));
  const late = Promise.withResolvers<{ address: string; family: 4 }[]>();
  const client = createOutboundClient({ timeoutMs: 50, resolve: () => late.promise });
  cleanUp(() => client.close());
  const outgoing = { headers: {}, body: "{}", allowedNetworks: ["127.0.0.0/8"] };
  const sent = await client.request({ ...outgoing, url: `http://late.example:${receiver.port}/` });
  assert.equal(sent.outcome === "failed" && sent.reason, "timed-out");
  late.resolve([{ address: "127.0.0.1", family: 4 }]);
  const patient = createOutboundClient();
  cleanUp(() => patient.close());
  assert.equal((await patient.request({ ...outgoing, url: receiver.url })).outcome, "responded");
  await eventually("the later one has come", 30_000, () => receiver.connections.length > 0);
  assert.equal(receiver.connections.length, 1);
});
