import assert from "node:assert/strict";
import { once } from "node:events";
import { createSecureServer } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { before, describe, test } from "node:test";
import type { TlsOptions } from "node:tls";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { type Certificate, issue } from "@ehr-marketplace/test-kit/certificates";
import { ok, onRequest, pour, type Receiver, startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import type { OutboundResult } from "./outbound-client.ts";
import { createOutboundClient, type OutboundClient } from "./outbound-client.ts";

const day = 24 * 60 * 60 * 1_000;
const describeResult = (sent: OutboundResult): string =>
  sent.outcome === "failed" ? `${sent.stage}: ${sent.reason}` : sent.snippet;

describe("the certificate of a receiver", () => {
  const cleanUp = cleanUpAfter();
  let authority: Certificate;
  let client: OutboundClient;
  before(() => {
    authority = issue({ names: [] });
    client = createOutboundClient({
      timeoutMs: 5_000,
      trustedCertificates: authority.cert,
      resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    });
    cleanUp(() => client.close());
  });
  const receive = (tls: TlsOptions): Promise<Receiver> =>
    startReceiver(cleanUp, (socket) => onRequest(socket, () => socket.write(ok("fine"))), { tls });
  const sendTo = async (host: string, port: number): Promise<string> =>
    describeResult(
      await client.request({
        url: `https://${host}:${port}/`,
        headers: {},
        body: "{}",
        allowedNetworks: ["127.0.0.0/8"],
      }),
    );

  test("is good if an authority that we trust has issued it for the name, or for the address", async () => {
    const { port } = await receive(issue({ names: ["good.example", "127.0.0.1"], by: authority }));
    assert.equal(await sendTo("good.example", port), "fine");
    assert.equal(await sendTo("127.0.0.1", port), "fine");
  });

  test("is selected by the receiver's name (SNI)", async () => {
    let requested: string | undefined;
    const { port } = await receive({
      ...issue({ names: ["good.example"], by: authority }),
      SNICallback: (name, callback) => {
        requested = name;
        callback(null);
      },
    });
    assert.equal(await sendTo("good.example", port), "fine");
    assert.equal(requested, "good.example");
  });

  const bad: Record<string, () => Certificate> = {
    "certificate-expired": () => issue({ names: ["bad.example"], by: authority, until: Date.now() - day / 2 }),
    "certificate-not-yet-valid": () => issue({ names: ["bad.example"], by: authority, from: Date.now() + day / 2 }),
    "certificate-wrong-name": () => issue({ names: ["good.example", "*.bad.example"], by: authority }),
    "certificate-not-trusted": () => issue({ names: ["bad.example"] }),
  };
  for (const [reason, certificate] of Object.entries(bad)) {
    test(`fails the request before anything is sent: ${reason}`, async () => {
      let heard = 0;
      const receiver = await startReceiver(cleanUp, (socket) => socket.on("data", () => (heard += 1)), {
        tls: certificate(),
      });
      assert.equal(await sendTo("bad.example", receiver.port), `tls: ${reason}`);
      assert.equal(heard, 0);
    });
  }

  test("is not trusted because an authority of its own has issued it", async () => {
    const { port } = await receive(issue({ names: ["bad.example"], by: issue({ names: [] }) }));
    assert.equal(await sendTo("bad.example", port), "tls: certificate-not-trusted");
  });

  test("counts, even where the environment says that none does", async (t) => {
    const { port } = await receive(issue({ names: ["bad.example"] }));
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    t.after(() => delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]);
    assert.equal(await sendTo("bad.example", port), "tls: certificate-not-trusted");
  });

  test("is not there: a receiver without TLS, one that never greets, one that knows old versions only", async () => {
    const plain = await startReceiver(cleanUp, (socket) => socket.end("HTTP/1.1 400 Bad\r\n\r\n"));
    assert.equal(await sendTo("good.example", plain.port), "tls: tls-failed");
    const closing = await startReceiver(cleanUp, (socket) => socket.destroy());
    assert.equal(await sendTo("good.example", closing.port), "tls: connection-reset");
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" } as const;
    const { port } = await receive({ ...issue({ names: ["good.example"], by: authority }), ...old });
    assert.equal(await sendTo("good.example", port), "tls: tls-failed");
    const mute = await startReceiver(cleanUp, (socket) => socket.resume());
    assert.equal(await sendTo("good.example", mute.port), "tls: timed-out");
  });

  test("is good, but what comes then has no end", async () => {
    const certificate = issue({ names: ["good.example"], by: authority });
    const endless = async (beginning: string): Promise<string> => {
      const behave = (socket: Socket): void =>
        onRequest(socket, () => socket.write(beginning, () => pour(socket, "x".repeat(65_536))));
      return sendTo("good.example", (await startReceiver(cleanUp, behave, { tls: certificate })).port);
    };
    assert.equal(await endless("HTTP/1.1 200 "), "headers: headers-too-large");
    assert.equal(await endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"), "");
    assert.equal(await endless("HTTP/1.1 200 OK\r\n\r\n"), "x".repeat(4_096));
  });

  test("is good, but the receiver speaks HTTP/2 only", async () => {
    const server = createSecureServer({ ...issue({ names: ["good.example"], by: authority }), allowHTTP1: false });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUp(async () => server.close());
    assert.equal(await sendTo("good.example", (server.address() as AddressInfo).port), "tls: http-1-not-spoken");
  });
});
