import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loopbackNetworks } from "@ehr-marketplace/dev/service-environments";
import { cleanUpAfter } from "@ehr-marketplace/tests/support";
import { ok, onRequest, startReceiver } from "./receiver.test-support.ts";
import { createResolver } from "./resolver.ts";
import { createSender } from "./sender.ts";

const hosts = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n";

describe("a name with both loopback addresses, as localhost has on most machines", () => {
  for (const host of ["127.0.0.1", "::1"]) {
    test(`reaches a receiver that listens on ${host} only`, async (t) => {
      const cleanUp = cleanUpAfter(t);
      const { port, connections } = await startReceiver(
        cleanUp,
        (socket) => onRequest(socket, () => socket.write(ok())),
        { host },
      );
      const { resolve } = createResolver({ servers: [], hosts });
      const sender = createSender({ resolve });
      cleanUp(() => sender.close());
      const url = `http://localhost:${port}/hooks`;
      const sent = await sender.send({ url, headers: {}, body: "{}", allowedNetworks: loopbackNetworks });
      assert.equal(sent.outcome, "answered", JSON.stringify(sent));
      assert.equal(connections.length, 1);
    });
  }

  test("is refused when only one of its addresses is allowed", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const sender = createSender({ resolve: createResolver({ servers: [], hosts }).resolve });
    cleanUp(() => sender.close());
    const url = "http://localhost:9/hooks";
    const sent = await sender.send({ url, headers: {}, body: "{}", allowedNetworks: ["127.0.0.0/8"] });
    assert.equal(sent.outcome === "failed" && sent.reason, "address-not-allowed");
  });
});
