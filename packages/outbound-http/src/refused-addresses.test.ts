import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { after, before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import type { OutboundResult } from "./outbound-client.ts";
import { createOutboundClient } from "./outbound-client.ts";

const everywhere = ["0.0.0.0/0", "::/0"];

const describeResult = (sent: OutboundResult): string =>
  sent.outcome === "failed" ? `${sent.stage}: ${sent.reason}` : "responded";

describe("no connection is attempted", () => {
  const cleanUp = cleanUpAfter();
  let sockets = 0;
  const count = (): void => {
    sockets += 1;
  };
  before(() => subscribe("net.client.socket", count));
  after(() => unsubscribe("net.client.socket", count));

  const client = createOutboundClient({ resolve: () => assert.fail("no query is needed for this") });
  cleanUp(() => client.close());
  const sendTo = async (url: string, allowedNetworks: readonly string[] = []): Promise<string> => {
    sockets = 0;
    const sent = await client.request({ url, headers: {}, body: "{}", allowedNetworks });
    assert.equal(sockets, 0);
    return describeResult(sent);
  };

  for (const host of [
    "127.0.0.1 127.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 127.0.0.1. %31%32%37.0.0.1 １２７.0.0.1",
    "[::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b:1::7f00:1]",
    "10.0.0.1 10.1 172.16.0.1 192.168.1.1 100.64.0.1 198.18.0.1 192.0.2.1 240.0.0.1 [fc00::1] [fd12:3456::1] [fec0::1]",
    "[2002:7f00:1::] [2001:db8::1] [2001:0:7f00:1::1] [::ffff:0:7f00:1] [100::1]",
  ].flatMap((line) => line.split(" "))) {
    test(`to https://${host}/, unless allowed by name`, async () => {
      assert.equal(await sendTo(`https://${host}/`), "address: address-not-allowed");
    });
  }

  for (const host of [
    "169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 169.254.1.1 100.100.100.200 168.63.129.16",
    "[::ffff:169.254.169.254] [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::] [fe80::1] [fd00:ec2::254] [::ffff:a9fe:a9fe]",
    "0.0.0.0 0 0x0 [::] 0.1.2.3 255.255.255.255 224.0.0.1 [ff02::1] [::ffff:0.0.0.0]",
  ].flatMap((line) => line.split(" "))) {
    test(`to ${host}, whatever is allowed`, async () => {
      for (const scheme of ["https", "http"]) {
        assert.equal(await sendTo(`${scheme}://${host}/`, everywhere), "address: address-not-allowed");
      }
    });
  }

  for (const url of ["http://example.com/", "http://1.1.1.1/", "http://127.0.0.1/", "http://[::1]/"]) {
    test(`to ${url}, because it is not encrypted`, async () => {
      assert.equal(await sendTo(url), "address: plain-http-not-allowed");
    });
  }
  test("without encryption to a public address, though a private network is allowed", async () => {
    for (const url of ["http://1.1.1.1/", "http://[2606:4700:4700::1111]/", "http://[::ffff:1.1.1.1]/"]) {
      assert.equal(await sendTo(url, ["127.0.0.0/8", "fd12::/64"]), "address: plain-http-not-allowed");
    }
  });

  for (const url of [
    "https://user@example.com/",
    "https://user:password@example.com/",
    "https://:password@example.com/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "unix:/run/docker.sock",
    "javascript:alert(1)",
    "https://",
    "https://example.com:99999/",
    "https://example.com:0/",
    "https://[fe80::1%25eth0]/",
    "https://256.256.256.256/",
    "//example.com",
    "",
  ]) {
    test(`to ${JSON.stringify(url)}, which is no receiver's URL`, async () => {
      assert.equal(await sendTo(url, everywhere), "address: url-invalid");
    });
  }
});
