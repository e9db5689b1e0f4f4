import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import type { SubscriptionEvent } from "@ehr-marketplace/contracts";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { cleanUpAfter, cloneDatabase, rounds } from "@ehr-marketplace/test-kit";
import {
  fetchCallers,
  insertKnownApps,
  sendRequest,
  signToken,
  startApiProcess,
  startEhrProcess,
} from "@ehr-marketplace/tests/support";
import { signBody } from "@ehr-marketplace/webhook-signature";

const schemathesis = new URL("../../.venv/bin/schemathesis", import.meta.url).pathname;
/** On a busy machine a service would respond with 503 within its usual limits, which counts as a server error here. */
const patientLimits = {
  MAX_EVENT_LOOP_DELAY_MS: "60000",
  STATEMENT_TIMEOUT_MS: "60000",
  REQUEST_TIMEOUT_MS: "120000",
};

/** Sends generated requests to every operation of a document and validates the responses against it. */
async function runSchemathesis(
  t: TestContext,
  documentUrl: string,
  headers: Record<string, string>,
  part?: { option: "--include-path-regex" | "--exclude-path-regex"; pattern: string },
): Promise<void> {
  assert.ok(existsSync(schemathesis), "Schemathesis is not installed. Run: npm run setup:schemathesis");
  // CI uses one seed, so that a commit fails for what it changes; the full counts explore with a new one each time.
  const seed = rounds(1, Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`seed ${seed}`);
  const examples = ["--max-examples", String(rounds(60, 500)), "--generation-database", "none"];
  // Health checks are about the generator: on a busy machine it is slow, and with some seeds it discards too many requests.
  const lenient = ["--suppress-health-check", "all"];
  const args = ["run", documentUrl, "--checks", "all", "--seed", String(seed), "--no-color", ...examples, ...lenient];
  const partArgs = part === undefined ? [] : [part.option, part.pattern];
  const headerArgs = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  const { stdout } = await promisify(execFile)(schemathesis, [...args, ...partArgs, ...headerArgs], {
    maxBuffer: 64 * 1_048_576,
  }).catch((error: { stdout: string; stderr: string }) => assert.fail(`${error.stdout}\n${error.stderr}`));
  t.diagnostic(stdout.trim().split("\n").slice(-12).join("\n"));
  const [, selected] = /Selected: (\d+)\/\d+/.exec(stdout) ?? [];
  const { paths } = (await (await fetch(documentUrl)).json()) as { paths: Record<string, Record<string, object>> };
  const isOfPart = (path: string): boolean =>
    part === undefined || new RegExp(part.pattern).test(path) === (part.option === "--include-path-regex");
  const operations = Object.entries(paths)
    .filter(([path]) => isOfPart(path))
    .flatMap(([, methods]) => Object.values(methods) as { operationId: string }[])
    // schemathesis.toml excludes imports.
    .filter(({ operationId }) => !operationId.startsWith("import"));
  assert.equal(Number(selected), operations.length, "every other operation is tested");
  // Schemathesis may warn that it found no ids for follow-up requests; other tests cover the life of subscriptions.
  const [, generated, passed] = /(\d+) generated, (\d+) passed/.exec(stdout) ?? [];
  assert.ok(generated !== undefined && Number(generated) > 500, "requests were generated");
  assert.ok(!/\d+ failed/.test(stdout), `${passed} of ${generated} passed`);
}

const publishing = "^/(developer/apps|admin/(apps|reviews|vendors))";
for (const [what, option] of [
  ["routes of publishing", "--include-path-regex"],
  ["other routes", "--exclude-path-regex"],
] as const) {
  test(`the marketplace's ${what} respond to generated requests as its OpenAPI document says`, async (t) => {
    const cleanUp = cleanUpAfter(t);
    const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
    const callers = await fetchCallers();
    const environment = { ...callers.environment, ...patientLimits, LOG_LEVEL: "warn" };
    const api = await startApiProcess(cleanUp, serviceUrl, { environment });
    // An operator may call every operation.
    const headers = { Authorization: `Bearer ${callers.token("operator")}`, "X-Vendor-Slug": "northwind-health" };
    await runSchemathesis(t, `${api.url}/api/v1/openapi.json`, headers, { option, pattern: publishing });
  });
}

test("the EHR responds to generated requests as its OpenAPI document says", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "ehr");
  const callers = await fetchCallers();
  const ehr = await startEhrProcess(cleanUp, serviceUrl, {
    marketplaceUrl: "http://127.0.0.1:9",
    environment: { ...callers.environment, ...patientLimits, LOG_LEVEL: "error" },
  });
  const [practice] = demoOrganisations;
  await insertKnownApps(ownerUrl, [scribe]);
  await installScribe(ehr.url, practice ?? assert.fail("no demo organisation"));
  // A token with all roles, to reach every operation.
  const organization = { "riverside-clinic": { roles: ["org-admin"] } };
  const roles = ["operator", "ehr-service", "launch-redeemer"];
  const token = await signToken(callers, { organization, roles, exp: Math.floor(Date.now() / 1_000) + 3_600 });
  await runSchemathesis(t, `${ehr.url}/api/openapi.json`, { Authorization: `Bearer ${token}` });
});

/** The app that the document's examples name. */
const scribe = {
  id: "01890a5d-ac96-774b-bcce-b302099a8057",
  slug: "northwind-scribe",
  name: "Northwind Scribe",
  iconUrl: "https://icons.example/scribe.svg",
  category: "DOCUMENTATION",
  extensionPoints: ["note-panel"],
  smartLaunchUrl: "https://scribe.example/launch",
  fhirScopes: "launch",
};

async function installScribe(ehrUrl: string, practice: { alias: string; secret: string }): Promise<void> {
  const body: SubscriptionEvent = {
    event: "subscription.created",
    app: scribe,
    subscription: { id: "01890a5d-ac96-774b-bcce-b302099a8058", status: "active", orgAlias: practice.alias },
    timestamp: new Date().toISOString(),
  };
  const response = await sendRequest(`${ehrUrl}/api/internal/marketplace-webhook`, undefined, {
    body,
    headers: {
      "x-marketplace-signature": signBody(JSON.stringify(body), practice.secret),
      "x-marketplace-delivery-id": "one",
    },
  });
  assert.equal(response.status, 200, await response.text());
}
