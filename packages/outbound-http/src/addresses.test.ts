import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isAllowedAddress, isInNetworks } from "./addresses.ts";

const everything = ["0.0.0.0/0", "::/0"];

/** The first and last address of each range, and other edge cases. */
const onlyByName: Record<string, string[]> = {
  "10.0.0.0/8": ["10.0.0.0", "10.255.255.255"],
  "172.16.0.0/12": ["172.16.0.0", "172.31.255.255"],
  "192.168.0.0/16": ["192.168.0.0", "192.168.255.255"],
  "127.0.0.0/8": ["127.0.0.1", "127.0.0.0", "127.255.255.255"],
  "100.64.0.0/10": ["100.64.0.0", "100.127.255.255", "100.100.100.199"],
  "192.0.0.0/24": ["192.0.0.0", "192.0.0.170", "192.0.0.255"],
  "192.0.2.0/24": ["192.0.2.0", "192.0.2.255"],
  "192.88.99.0/24": ["192.88.99.0", "192.88.99.255"],
  "198.18.0.0/15": ["198.18.0.0", "198.19.255.255"],
  "198.51.100.0/24": ["198.51.100.0", "198.51.100.255"],
  "203.0.113.0/24": ["203.0.113.0", "203.0.113.255"],
  "240.0.0.0/4": ["240.0.0.0", "255.255.255.254"],
  "::1/128": ["::1", "0:0:0:0:0:0:0:1"],
  "::/96": ["::a00:1", "::7f00:1", "::102:304"],
  "::ffff:0:0:0/96": ["::ffff:0:a00:1", "::ffff:0:102:304"],
  "64:ff9b::/96": ["64:ff9b::a00:1", "64:ff9b::1.2.3.4", "64:ff9b::7f00:1"],
  "64:ff9b:1::/48": ["64:ff9b:1::a00:1", "64:ff9b:1:ffff::1.2.3.4"],
  "100::/64": ["100::", "100::ffff:ffff:ffff:ffff"],
  "100:0:0:1::/64": ["100:0:0:1::1"],
  "2001::/32": ["2001:0:102:304::f5ff:fffe", "2001:0:a00:1::fefd:fcfb"],
  "2001:2::/48": ["2001:2::", "2001:2:0:ffff::1"],
  "2001:3::/32": ["2001:3::1"],
  "2001:4:112::/48": ["2001:4:112::1"],
  "2001:10::/28": ["2001:10::1", "2001:1f:ffff::1"],
  "2001:20::/28": ["2001:20::1", "2001:2f:ffff::1"],
  "2001:30::/28": ["2001:30::1"],
  "2001::/23": ["2001:1::1", "2001:1ff:ffff::1"],
  "2001:db8::/32": ["2001:db8::1", "2001:db8:ffff::"],
  "2002::/16": ["2002:a00:1::1", "2002:7f00:1::", "2002:102:304::1"],
  "3fff::/20": ["3fff::1", "3fff:fff::1"],
  "5f00::/16": ["5f00::1"],
  "fc00::/7": ["fc00::1", "fd00::1", "fdff:ffff::1"],
  "fec0::/10": ["fec0::1", "feff::1"],
  "4000::/2": ["4000::1", "7fff::1"],
  "1000::/4": ["1000::1", "1fff:ffff::1"],
};

describe("a special address is refused unless its network is allowed", () => {
  for (const [network, addresses] of Object.entries(onlyByName)) {
    test(network, () => {
      for (const address of addresses) {
        assert.equal(isAllowedAddress(address, []), false, address);
        assert.equal(
          isAllowedAddress(address, ["10.11.12.0/30", "fd12:3456::/64"]),
          false,
          `${address} by another's name`,
        );
        assert.equal(isAllowedAddress(address, ["fd12::/64", network]), true, `${address} by its name`);
        assert.equal(isAllowedAddress(address, everything), true, `${address} by the name of everything`);
      }
    });
  }
});

describe("some addresses are always blocked, whatever is allowed", () => {
  for (const [what, addresses] of Object.entries({
    "where clouds keep credentials": [
      "169.254.169.254",
      "169.254.170.2",
      "100.100.100.200",
      "168.63.129.16",
      "192.0.0.192",
      "fd00:ec2::254",
      "fd00:ec2::23",
      "fd20:ce::254",
      "fd00:c1::a9fe:a9fe",
      "fd00:42::42",
    ],
    "link-local": ["169.254.0.0", "169.254.255.255", "fe80::1", "fe80::1%eth0", "febf:ffff::1", "fe80::a9fe:a9fe"],
    multicast: ["224.0.0.1", "239.255.255.255", "ff00::", "ff02::1", "ffff:ffff::1"],
    unspecified: ["0.0.0.0", "0.0.0.1", "0.255.255.255", "::", "0:0:0:0:0:0:0:0"],
    broadcast: ["255.255.255.255"],
    "one of these in an IPv4-mapped address": [
      "::ffff:169.254.169.254",
      "::ffff:a9fe:a9fe",
      "0:0:0:0:0:ffff:a9fe:a9fe",
      "::FFFF:6464:64C8",
      "::ffff:0:0",
      "::ffff:224.0.0.1",
    ],
    "one of these in an address that a gateway translates": [
      "64:ff9b::169.254.169.254",
      "64:ff9b::6464:64c8",
      "64:ff9b::0.0.0.0",
      "64:ff9b:1::a9fe:a9fe",
      "64:ff9b:1:a9fe:a9:fe00::",
      "64:ff9b:1:a9:fe:a9fe::",
      "64:ff9b:1:0:a9:fea9:fe00:0",
      "::2",
      "::a9fe:a9fe",
      "::169.254.169.254",
      "::ffff:0:a9fe:a9fe",
      "2002:a9fe:a9fe::1",
      "2002:e000:1::",
      "2001:0:a9fe:a9fe::f5ff:fffe",
      "2001:0:102:304::5601:5601",
    ],
  })) {
    test(what, () => {
      for (const address of addresses) {
        const own = address.includes("%") ? [] : [address];
        for (const allowed of [[], everything, own]) assert.equal(isAllowedAddress(address, allowed), false, address);
      }
    });
  }
});

const publicAddresses = `
  1.1.1.1 8.8.8.8 1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15
  169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
  203.0.112.255 203.0.114.0 223.255.255.255 ::ffff:8.8.8.8 ::ffff:808:808 2000::1 2001:200::1 2001:db7:ffff::1
  2001:db9::1 2003::1 2606:4700:4700::1111 2a00:1450:4001::200e 3ffe:ffff::1 3fff:1000::1`;

test("allows public addresses, also next to a special range", () => {
  for (const address of publicAddresses.trim().split(/\s+/)) assert.equal(isAllowedAddress(address, []), true, address);
});

test("treats an IPv4-mapped address as IPv4, also for allowed networks", () => {
  for (const address of ["::ffff:10.1.2.3", "::ffff:a01:203"]) {
    assert.equal(isAllowedAddress(address, []), false);
    assert.equal(isAllowedAddress(address, ["::/0"]), false);
    assert.equal(isAllowedAddress(address, ["10.0.0.0/8"]), true);
  }
});

test("an allowed network allows exactly its addresses, and can be one address", () => {
  assert.equal(isAllowedAddress("10.20.255.255", ["10.20.0.0/16"]), true);
  assert.equal(isAllowedAddress("10.21.0.0", ["10.20.0.0/16"]), false);
  assert.equal(isAllowedAddress("10.20.0.1", ["10.20.0.1"]), true);
  assert.equal(isAllowedAddress("10.20.0.2", ["10.20.0.1"]), false);
  assert.equal(isAllowedAddress("fd12::1", ["fd12::1"]), true);
  assert.equal(isAllowedAddress("fd12::2", ["fd12::1"]), false);
});

test("refuses an IPv4-compatible address in any notation, even with a public IPv4 address", () => {
  for (const address of ["::8.8.8.8", "::808:808", "0:0:0:0:0:0:8.8.8.8"]) {
    assert.equal(isAllowedAddress(address, []), false, address);
    assert.equal(isAllowedAddress(address, ["0.0.0.0/0"]), false, address);
    assert.equal(isInNetworks(address, ["8.8.8.8"]), false, address);
    assert.equal(isInNetworks(address, ["::8.8.8.8"]), true, address);
  }
});

test("refuses addresses with a zone", () => {
  for (const address of ["fe80::1%eth0", "2606:4700::1%1", "::1%", "::%fff:130.231.220.111"]) {
    assert.equal(isAllowedAddress(address, everything), false, address);
    assert.equal(isInNetworks(address, everything), false, address);
  }
});

test("refuses text that is no address, and ambiguous notations", () => {
  for (const text of ["", "localhost", "example.com", "1.1.1", "1", "2130706433", "0x7f.1", "0177.0.0.1", "08.8.8.8"]) {
    assert.equal(isAllowedAddress(text, everything), false, text);
  }
  for (const text of ["[::1]", "1.1.1.1:80", "1.1.1.1/32", " 1.1.1.1", "::g", "2606:4700::1::1"]) {
    assert.equal(isAllowedAddress(text, everything), false, text);
  }
});

for (const [address, networks, expected] of [
  ["10.1.2.3", ["10.0.0.0/8"], true],
  ["11.1.2.3", ["10.0.0.0/8"], false],
  ["10.1.2.3", [], false],
  ["10.1.2.3", ["fd00::/8", "10.1.2.3"], true],
  ["fd00::1", ["10.0.0.0/8", "fd00::/8"], true],
  ["::ffff:10.1.2.3", ["10.0.0.0/8"], true],
  ["10.1.2.3", ["::ffff:10.0.0.0/104"], true],
  ["8.8.8.8", ["10.0.0.0/8"], false],
] as const) {
  test(`${address} is ${expected ? "" : "not "}within ${JSON.stringify(networks)}, public or not`, () => {
    assert.equal(isInNetworks(address, networks), expected);
  });
}
