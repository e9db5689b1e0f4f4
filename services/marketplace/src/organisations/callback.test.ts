import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { OrganisationDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";

const everywhere = ["0.0.0.0/0", "::/0"];

describe("an organisation's callback", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const put = (callbackUrl: unknown, callbackNetworks: readonly string[] = []): Promise<Response> =>
    marketplace.requestAs("operator", "/admin/organisations/called-back", {
      method: "PUT",
      body: { displayName: "Called back", callbackUrl, callbackNetworks },
    });
  const stored = async (): Promise<OrganisationDto> =>
    (await (await marketplace.requestAs("operator", "/admin/organisations/called-back")).json()) as OrganisationDto;

  const good: [string, string[]?][] = [
    ["https://ehr.example"],
    ["https://ehr.example/"],
    ["https://ehr.example:8443/some/base"],
    ["https://ehr.example:8443/some/base/"],
    ["https://ehr.example//"],
    ["https://EHR.example/Base"],
    ["https://api/base-api"],
    ["https://ehr.example/api/base"],
    ["https://8.8.8.8/"],
    ["https://[2606:4700:4700::1111]/"],
    ["https://ehr.internal", ["10.0.0.0/8"]],
    ["http://ehr.internal", ["10.0.0.0/8"]],
    ["https://10.1.2.3/", ["10.0.0.0/8"]],
    ["http://10.1.2.3/", ["192.168.0.0/16", "10.0.0.0/8"]],
    ["http://127.0.0.1:8081", ["127.0.0.0/8"]],
    ["http://2130706433/", ["127.0.0.0/8"]],
    ["http://[::ffff:10.1.2.3]/", ["10.0.0.0/8"]],
    ["http://[fd12:3456::1]:8081/", ["fd12:3456::/32"]],
  ];
  const withoutSlashes = (url: string): string => url.replace(/\/+$/, "");
  for (const [url, networks = []] of good) {
    test(`is accepted: ${url}${networks.length === 0 ? "" : ` within ${networks.join(" and ")}`}`, async () => {
      const response = await put(url, networks);
      assert.ok([200, 201].includes(response.status), await response.text());
      const { callbackUrl, callbackNetworks } = await stored();
      assert.deepEqual([callbackUrl, callbackNetworks], [withoutSlashes(url), networks]);
    });
  }

  const bad: [string, (readonly string[])?][] = [
    ["http://ehr.example/"],
    ["http://8.8.8.8/", ["10.0.0.0/8"]],
    ["http://[2606:4700:4700::1111]/", ["10.0.0.0/8", "fd00::/8"]],
    ["ftp://ehr.example/"],
    ["file:///etc/passwd"],
    ["javascript:alert(1)"],
    ["HTTPS://ehr.example/"],
    ["https:ehr.example"],
    ["https:/ehr.example"],
    ["https:///ehr.example"],
    ["https://"],
    ["ehr.example"],
    ["//ehr.example/"],
    ["/api"],
    [""],
    ["https://user@ehr.example/"],
    ["https://:@ehr.example/"],
    ["https://user:pass@ehr.example/"],
    ["https://ehr.example@evil.example/"],
    ["https://ehr.example/?"],
    ["https://ehr.example/?a=b"],
    ["https://ehr.example?"],
    ["https://ehr.example/#"],
    ["https://ehr.example/#a"],
    ["https://ehr.example/ a"],
    ["https://ehr.example\\@evil.example/"],
    ["https://ehr.example/\n"],
    ["https://ehr.example:99999/"],
    ["https://ehr.example:0/"],
    ["https://localhost/"],
    [`https://ehr.example/${"a".repeat(2_048)}`],
    ["https://127.0.0.1/"],
    ["https://127.1/"],
    ["https://2130706433/"],
    ["https://0x7f000001/"],
    ["https://0x7f.1/"],
    ["https://0177.0.0.1/"],
    ["https://127.0.0.1./"],
    ["https://%31%32%37.0.0.1/"],
    ["https://0/"],
    ["https://10.0.0.1/"],
    ["https://10.0.0.1/", ["192.168.0.0/16", "10.0.0.0/32"]],
    ["https://172.16.0.1/"],
    ["https://192.168.1.1/"],
    ["https://100.64.0.1/"],
    ["https://198.51.100.1/"],
    ["https://[::1]/"],
    ["https://[::]/"],
    ["https://[::ffff:127.0.0.1]/"],
    ["https://[::ffff:7f00:1]/"],
    ["https://[::7f00:1]/"],
    ["https://[64:ff9b::7f00:1]/"],
    ["https://[fd00::1]/"],
    ["https://[fd00::1]/", ["10.0.0.0/8"]],
    ["https://[fe80::1]/", everywhere],
    ["https://169.254.169.254/", everywhere],
    ["http://169.254.169.254/latest/meta-data", ["169.254.169.254", "169.254.0.0/16"]],
    ["https://2852039166/", everywhere],
    ["https://0xa9.0xfe.0xa9.0xfe/", everywhere],
    ["https://[::ffff:169.254.169.254]/", everywhere],
    ["https://[64:ff9b::a9fe:a9fe]/", everywhere],
    ["https://[fd00:ec2::254]/", everywhere],
    ["https://100.100.100.200/", everywhere],
    ["https://168.63.129.16/", everywhere],
    ["https://0.0.0.0/", everywhere],
    ["https://255.255.255.255/", everywhere],
    ["https://224.0.0.1/", everywhere],
  ];
  for (const [url, networks = []] of bad) {
    const where = networks.length === 0 ? "" : `, though ${networks.join(" and ")} may be called`;
    test(`is refused: ${JSON.stringify(url.slice(0, 60))}${where}`, async () => {
      const response = await put(url, networks);
      const invalid = response.status === 400;
      const problem = await assertProblem(
        response,
        invalid ? 400 : 422,
        invalid ? "invalid-request" : "callback-not-allowed",
      );
      const pointers = (problem["errors"] as { pointer: string }[]).map(({ pointer }) => pointer);
      assert.deepEqual(new Set(pointers), new Set(["/body/callbackUrl"]));
    });
  }

  test("is refused with the webhook's path, which is appended to it, and the reason says so", async () => {
    for (const path of ["/api", "/api/", "/base/api/internal", "/api/internal/marketplace-webhook"]) {
      const { detail } = await assertProblem(await put(`https://ehr.example${path}`), 422, "callback-not-allowed");
      assert.match(String(detail), /\/api\/internal\/marketplace-webhook is appended to it; leave out \/api/, path);
    }
  });

  test("is unchanged after refused requests", async () => {
    const { callbackUrl, callbackNetworks } = await stored();
    const [url = "", networks] = good.at(-1) ?? [];
    assert.deepEqual([callbackUrl, callbackNetworks], [withoutSlashes(url), networks]);
  });

  test("is the same with and without a trailing slash", async () => {
    await put("https://ehr.example/base/");
    const first = await stored();
    assert.equal(first.callbackUrl, "https://ehr.example/base");
    for (const same of ["https://ehr.example/base", "https://ehr.example/base/", "https://ehr.example/base//"]) {
      const response = await put(same);
      assert.equal(response.status, 200);
      assert.deepEqual(await response.json(), first);
    }
  });

  for (const [given, canonical] of [
    ["10.1.2.3/8", "10.0.0.0/8"],
    ["10.1.2.3", "10.1.2.3/32"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["FD12:3456:0::1/32", "fd12:3456::/32"],
    ["::1", "::1/128"],
    ["2001:0db8:0000:0000:0001:0000:0000:0000/80", "2001:db8:0:0:1::/80"],
    ["::ffff:10.1.2.3/104", "10.0.0.0/8"],
  ] as const) {
    test(`is allowed in ${given}, which is stored as ${canonical}`, async () => {
      const response = await put(null, [given]);
      assert.equal(response.status, 200, await response.clone().text());
      assert.deepEqual(((await response.json()) as OrganisationDto).callbackNetworks, [canonical]);
      assert.deepEqual((await stored()).callbackNetworks, [canonical]);
    });
  }

  for (const network of [
    "",
    "*",
    "any",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/",
    "/8",
    "10/8",
    "10.20/16",
    "010.0.0.0/8",
    "0x0a.0.0.0/8",
    "167772160/8",
    "10.0.0.0/8/8",
    "10.0.0.0/255.0.0.0",
    "10.0.0.0-10.0.0.9",
    " 10.0.0.0/8",
    "10.0.0.0/8 ",
    "::/129",
    "fe80::1%eth0",
    "fe80::1%eth0/64",
    "ehr.example",
    "1".repeat(50),
  ]) {
    test(`400: ${JSON.stringify(network)} is not a network`, async () => {
      const problem = await assertProblem(await put(null, ["10.0.0.0/8", network]), 400, "invalid-request");
      const pointers = (problem["errors"] as { pointer: string }[]).map(({ pointer }) => pointer);
      assert.deepEqual(pointers, ["/body/callbackNetworks/1"]);
    });
  }
});
