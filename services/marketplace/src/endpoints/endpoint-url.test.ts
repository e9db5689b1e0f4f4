import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { RegisteredWebhookDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { findUrlError } from "./endpoint.ts";
import { endpointBody, registered } from "./register.test-support.ts";

const publicOnes = [
  "https://hooks.example",
  "https://hooks.example/",
  "https://hooks.example:8443/some/path?tenant=1&b",
  "https://HOOKS.example/Path?",
  "https://8.8.8.8/",
  "https://[2606:4700:4700::1111]/",
];
const neverAllowed = [
  "ftp://hooks.example/",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "HTTPS://hooks.example/",
  "https:hooks.example",
  "https:/hooks.example",
  "https:///hooks.example",
  "hooks.example",
  "//hooks.example/",
  "",
  "https://",
  "https://user@hooks.example/",
  "https://user:pass@hooks.example/",
  "https://:pass@hooks.example/",
  "https://:@hooks.example/",
  "https://@hooks.example/",
  "https://hooks.example@evil.example/",
  "https://hooks.example/#",
  "https://hooks.example/#a",
  "https://hooks.example/?a=b#c",
  "https://hooks.example/ a",
  "https://hooks.example\\@evil.example/",
  "https://hooks.example/\n",
  "https://hooks.example:99999/",
  "https://hooks.example:0/",
  "https://0.0.0.0/",
  "https://169.254.169.254/",
  "http://169.254.169.254/latest/meta-data",
  "https://[::ffff:169.254.169.254]/",
  "https://[64:ff9b::a9fe:a9fe]/",
  "https://[fe80::1]/",
  "https://[fd00:ec2::254]/",
  "https://100.100.100.200/",
  "https://224.0.0.1/",
  "https://255.255.255.255/",
  "http://8.8.8.8/",
  "http://[2606:4700:4700::1111]/",
];
const privateOnes = [
  "http://hooks.example/",
  "http://127.0.0.1:8090/hook",
  "https://127.0.0.1/",
  "https://127.1/",
  "https://2130706433/",
  "https://0x7f.1/",
  "https://[::ffff:127.0.0.1]/",
  "http://10.20.3.4/",
  "https://10.20.3.4/",
  "http://[fd12:3456::1]/",
];
const otherPrivateOnes = [
  "https://10.21.0.1/",
  "http://10.21.0.1/",
  "https://172.16.0.1/",
  "https://192.168.1.1/",
  "https://100.64.0.1/",
  "https://[::1]/",
  "https://[fd00::1]/",
];
const networks = "127.0.0.0/8,10.20.0.0/16,fd12:3456::/32";

for (const [where, environment, good, bad] of [
  [
    "where no network is allowed",
    {},
    publicOnes,
    // With loopback allowed, the result depends on whether this machine's hosts file has ::1 for it.
    [...neverAllowed, ...privateOnes, ...otherPrivateOnes, "https://localhost/"],
  ],
  [
    `where ${networks} are allowed`,
    { VENDOR_ALLOWED_NETWORKS: networks },
    [...publicOnes, ...privateOnes],
    [...neverAllowed, ...otherPrivateOnes],
  ],
] as const) {
  describe(`an endpoint's URL, ${where}`, () => {
    const cleanUp = cleanUpAfter();
    let marketplace: MarketplaceWithCallers;
    let endpoint: RegisteredWebhookDto;
    before(async () => {
      marketplace = await startMarketplaceWithCallers(cleanUp, environment, {
        // This is about what the URL itself tells; names are the subject of endpoint-name.test.ts.
        resolve: async (hostname) => (hostname === "localhost" ? [{ address: "127.0.0.1", family: 4 }] : []),
        close: () => undefined,
      });
      endpoint = await registered(marketplace);
    });
    const patch = (url: string): Promise<Response> =>
      marketplace.requestAs("northwind-developer", `/developer/webhooks/${endpoint.id}`, {
        method: "PATCH",
        body: { url },
      });
    const assertRefused = async (response: Response): Promise<void> => {
      const invalid = response.status === 400;
      const problem = await assertProblem(
        response,
        invalid ? 400 : 422,
        invalid ? "invalid-request" : "endpoint-not-allowed",
      );
      const pointers = (problem["errors"] as { pointer: string }[]).map(({ pointer }) => pointer);
      assert.deepEqual(new Set(pointers), new Set(["/body/url"]));
    };

    for (const url of good) {
      test(`may be ${url}`, async () => {
        const response = await patch(url);
        assert.equal(response.status, 200, await response.clone().text());
        assert.equal(((await response.json()) as RegisteredWebhookDto).url, url);
      });
    }
    for (const url of bad) {
      test(`may not be ${JSON.stringify(url)}`, async () => {
        await assertRefused(await patch(url));
      });
    }

    test("is checked with the same rules at registration", async () => {
      for (const url of ["https://169.254.169.254/", "https://192.168.1.1/", "https://user@hooks.example/"]) {
        const response = await marketplace.requestAs("northwind-developer", "/developer/webhooks", {
          body: { ...endpointBody, url },
        });
        await assertProblem(response, 422, "endpoint-not-allowed");
      }
      const local = { ...endpointBody, url: "http://127.0.0.1:8090/hook" };
      const response = await marketplace.requestAs("northwind-developer", "/developer/webhooks", { body: local });
      if ("VENDOR_ALLOWED_NETWORKS" in environment) assert.equal(response.status, 201);
      else await assertProblem(response, 422, "endpoint-not-allowed");
    });

    test("is still the last allowed one", async () => {
      const response = await marketplace.requestAs("northwind-developer", `/developer/webhooks/${endpoint.id}`);
      assert.equal(((await response.json()) as RegisteredWebhookDto).url, good.at(-1));
    });
  });
}

test("the error of a URL without a usable scheme names http only where networks are allowed", () => {
  assert.equal(findUrlError("localhost:20450", []), "must begin with https://");
  assert.equal(
    findUrlError("localhost:20450", ["127.0.0.0/8"]),
    "must begin with https://, or with http:// at an address in an allowed network",
  );
});

test("a single address can be allowed like a network, also for plain http to a public address", () => {
  assert.equal(findUrlError("http://127.0.0.1/", ["127.0.0.1"]), undefined);
  assert.equal(findUrlError("http://127.0.0.2/", ["127.0.0.1"]), "must begin with https://");
  assert.equal(findUrlError("http://8.8.8.8/", ["8.8.8.0/24"]), undefined);
  assert.equal(findUrlError("https://127.0.0.2/", ["127.0.0.1"]), "must have a public address");
});
