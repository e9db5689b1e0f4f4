import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loopbackNetworks } from "@ehr-marketplace/dev/service-environments";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { ok, onRequest, startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import { createOutboundClient } from "./outbound-client.ts";
import { createResolver } from "./resolver.ts";

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
      const client = createOutboundClient({ resolve });
      cleanUp(() => client.close());
      const url = `http://localhost:${port}/hooks`;
      const sent = await client.request({ url, headers: {}, body: "{}", allowedNetworks: loopbackNetworks });
      assert.equal(sent.outcome, "responded", JSON.stringify(sent));
      assert.equal(connections.length, 1);
    });
  }

  test("is refused where only one of its addresses is allowed", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const client = createOutboundClient({ resolve: createResolver({ servers: [], hosts }).resolve });
    cleanUp(() => client.close());
    const url = "http://localhost:9/hooks";
    const sent = await client.request({ url, headers: {}, body: "{}", allowedNetworks: ["127.0.0.0/8"] });
    assert.equal(sent.outcome === "failed" && sent.reason, "address-not-allowed");
  });
});
