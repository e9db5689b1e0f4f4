import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { before, beforeEach, describe, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { parseEncryptionKeys } from "../secrets/encryption-keys.ts";
import { createKeyedDigest } from "../secrets/keyed-digest.ts";
import { createCaller, createVerifier } from "./access.test-support.ts";
import { rawResponse, startTestServer, type TestServer } from "./server.test-support.ts";

const keys = `1:${Buffer.alloc(32, 1).toString("base64")}`;
const hash = createKeyedDigest(parseEncryptionKeys(keys), "log-hash").create;
const subject = "jane.doe@example.com";
const subjectHash = hash(JSON.stringify(["https://issuer.example", subject]));
const address = "203.0.113.77";

describe("a refused request", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, {
      closed: true,
      trustedProxies: ["127.0.0.1"],
      access: {
        tokens: createVerifier({ nobody: createCaller(subject, []), operator: createCaller(subject, ["operator"]) }),
        requestsPerMinute: 6,
        requestsAtOnce: 1_000,
        refusedTokensPerMinute: 1_000_000,
      },
      routes: (server) => {
        server.get("/patients/:id", { config: { access: ["operator"] } }, () => ({}));
      },
    });
  });
  beforeEach(() => running.logged.splice(0));
  const lineAfter = async (token: string | undefined, from = address): Promise<Record<string, unknown>> => {
    running.logged.splice(0);
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    await fetch(`${running.url}/patients/mrn4711?name=doe`, { headers: { ...authorization, "x-forwarded-for": from } });
    await eventually("it is logged", 20_000, () => running.logged.length > 0);
    assert.equal(running.logged.length, 1);
    assert.doesNotMatch(JSON.stringify(running.logged), /jane|203\.0\.113|mrn|doe|Bearer|forged/);
    return running.logged[0] ?? {};
  };

  test("is logged with a hash of the address if the token is missing or invalid", async () => {
    for (const token of [undefined, "forged"]) {
      const line = await lineAfter(token);
      assert.deepEqual([line["status"], line["addressHash"], line["subjectHash"]], [401, hash(address), undefined]);
    }
  });

  test("has the same hash for the same IPv6 network, and another hash for other networks", async () => {
    const addressHash = async (from: string): Promise<unknown> => (await lineAfter(undefined, from))["addressHash"];
    assert.equal(await addressHash("2001:db8::1"), hash("2001:db8::"));
    assert.equal(await addressHash("2001:db8::1"), await addressHash("2001:db8::2"));
    assert.notEqual(await addressHash("2001:db8::1"), await addressHash("2001:db8:0:1::1"));
  });

  test("is logged with a hash of the subject too if the caller is forbidden", async () => {
    const line = await lineAfter("nobody");
    assert.deepEqual([line["status"], line["addressHash"], line["subjectHash"]], [403, hash(address), subjectHash]);
  });

  test("is logged with both if the caller is rate-limited; a served request with neither", async () => {
    const served = await lineAfter("operator");
    assert.deepEqual([served["status"], "addressHash" in served, "subjectHash" in served], [200, false, false]);
    await eventually("there are too many", 20_000, async () => (await lineAfter("operator"))["status"] === 429);
    const line = await lineAfter("operator");
    assert.deepEqual([line["status"], line["addressHash"], line["subjectHash"]], [429, hash(address), subjectHash]);
  });

  for (const [what, request, code, status] of [
    ["is no HTTP", "jane doe mrn4711\r\n\r\n", "invalid-request", 400],
    [
      "has headers that are too large",
      `GET /?jane HTTP/1.1\r\nX-A: ${"mrn4711".repeat(5_000)}\r\n\r\n`,
      "headers-too-large",
      431,
    ],
    ["has a URL that is too long", `GET /${"mrn4711".repeat(5_000)} HTTP/1.1\r\n\r\n`, "uri-too-long", 414],
  ] as const) {
    test(`by the parser because it ${what} is logged and counted, without its content`, async () => {
      const counted = async (): Promise<number> => {
        const { values } = (await running.metrics.registry
          .getSingleMetric("http_requests_refused_by_parser_total")
          ?.get()) ?? {
          values: [],
        };
        return values.find(({ labels }) => labels["code"] === code)?.value ?? 0;
      };
      const earlier = await counted();
      const response = await rawResponse(running, request);
      assert.equal(response.status, status);
      await eventually("it is logged", 20_000, () => running.logged.length > 0);
      const [line = {}] = running.logged;
      assert.deepEqual(
        [line["msg"], line["status"], line["code"], line["addressHash"], line["requestId"]],
        ["request refused by the HTTP parser", status, code, hash("127.0.0.1"), response.headers.get("x-request-id")],
      );
      assert.doesNotMatch(JSON.stringify(running.logged), /jane|mrn|127\.0\.0\.1/);
      assert.equal(await counted(), earlier + 1);
    });
  }
});

test("the operator's guide explains how to compute the hash of a known subject or address", async () => {
  const guide = await readFile(new URL("../../../../docs/guides/marketplace-operator.md", import.meta.url), "utf8");
  const [, command = ""] = /```bash\n(printf [\s\S]*?log-hash[\s\S]*?)```/.exec(guide) ?? [];
  const given = command.replace(/'\["[^']*'/, () => `'${JSON.stringify(["https://issuer.example", subject])}'`);
  assert.notEqual(given, command);
  const run = spawnSync("bash", ["-c", given], {
    cwd: new URL("../../../../", import.meta.url),
    env: { ...process.env, ENCRYPTION_KEYS: `${keys},2:${Buffer.alloc(32, 2).toString("base64")}` },
    encoding: "utf8",
  });
  assert.equal(run.stdout.trim(), subjectHash, run.stderr);
});
