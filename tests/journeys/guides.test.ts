// Runs the README and the guides on one stack, in a random order and after another guide that wasn't finished. In the slow tier each runs
// twice, and the stack is restarted in between. To repeat an order: GUIDES_SEED=… npm test -- tests/journeys/guides.test.ts
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import { requestAccessToken } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually, rounds } from "@ehr-marketplace/test-kit";
import { type RequestOptions, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import {
  type DevStack,
  prepareStackData,
  type StackData,
  startDevStack,
} from "@ehr-marketplace/tests/support/dev-stack";
import { parseGuide, runGuide } from "@ehr-marketplace/tests/support/guide-commands";
import fc from "fast-check";

type GuideSteps = ReturnType<typeof parseGuide>;

const root = new URL("../../", import.meta.url).pathname;
const files = ["README.md", ...(await Array.fromAsync(glob("docs/guides/*.md", { cwd: root })))];
const parsed = await Promise.all(
  files.map(async (file) => [file, parseGuide(await readFile(join(root, file), "utf8"))] as const),
);
/** tests/keycloak runs these, because they need a Keycloak. */
const isOfOtherTest = (file: string): boolean =>
  ["docs/guides/keycloak.md", "docs/guides/identity-providers.md"].includes(file);
const guides = new Map<string, GuideSteps>(parsed.filter(([file, steps]) => steps.length > 0 && !isOfOtherTest(file)));

/** An organisation subscribes to an app at most 30 times an hour, so not all guides can use the same one. */
const practicesOfGuides = new Map([
  ["docs/guides/marketplace-operator.md", "meadow-clinic"],
  ["docs/guides/billing.md", "hilltop-family-practice"],
]);

const seed = Number(process.env["GUIDES_SEED"] ?? randomInt(2 ** 31));
/** Once in the gate; in the slow tier twice, with a restart of the stack in between. */
const times = rounds(1, 2);
const repeated = Array.from({ length: times }, () => [...guides.keys()]).flat();
const [order = []] = fc.sample(fc.shuffledSubarray(repeated, { minLength: repeated.length }), { seed, numRuns: 1 });

describe(`the guides, in the order of GUIDES_SEED=${seed}`, () => {
  const cleanUp = cleanUpAfter();
  let data: StackData;
  let stack: DevStack;
  before(async () => {
    data = await prepareStackData(cleanUp);
    stack = await startDevStack(cleanUp, { data });
  });

  async function restart(): Promise<void> {
    stack.signal("SIGTERM");
    await eventually("the stack has stopped", 30_000, () => /^stopped$/m.test(stack.output()));
    stack = await startDevStack(cleanUp, { data });
  }

  /** Leaves what a guide would that isn't finished: the practice can't subscribe until the block is lifted. */
  async function leaveBlock(orgAlias: string): Promise<void> {
    const token = await requestAccessToken(stack.issuer, "operator");
    const send = async (path: string, options: RequestOptions = {}): Promise<Response> =>
      sendApiRequest(stack.marketplaceUrl, path, token, options);
    const [plan] = (await (await send("/apps/northwind-scribe/pricing")).json()) as PricingPlanDto[];
    const wanted = { appSlug: "northwind-scribe", orgAlias, pricingPlanId: plan?.id };
    const created = await send("/subscriptions", { body: wanted });
    const { id, code } = (await created.json()) as { id: string; code?: string };
    // Registered by its guide.
    if (code === "unknown-organisation") return;
    assert.equal(created.status, 201, `an earlier guide has left something: ${code}`);
    const paused = await send(`/subscriptions/${id}/pause`, { body: { reason: "NON_PAYMENT" } });
    const cancelled = await send(`/subscriptions/${id}/cancel`, { method: "POST" });
    assert.deepEqual([paused.status, cancelled.status], [200, 200]);
  }

  async function runReadme(steps: GuideSteps): Promise<void> {
    const [launchUrl = "", browsed = "", managed = "", ...more] = await runGuide(steps, stack);
    assert.ok(launchUrl.startsWith(`${stack.demoAppUrl}/launch?iss=`), launchUrl);
    assert.doesNotMatch(launchUrl, /maria|visit/);
    assert.equal((await fetch(launchUrl)).status, 200);
    for (const field of ["totalElements", "fhirScopes", "appCount", "pricingModel", '"code":"invalid-request"']) {
      assert.ok(browsed.includes(field), field);
    }
    assert.deepEqual(managed.match(/"status":"\w+"/g), ['"status":"active"', '"status":"cancelled"']);
    assert.deepEqual(more, []);
  }

  async function runAndCompare(steps: GuideSteps): Promise<void> {
    const printed = await runGuide(steps, stack);
    for (const [index, { commands, expectedOutput }] of steps.entries()) {
      assert.equal(printed[index], expectedOutput ?? "", commands);
    }
  }

  for (const [nth, file] of order.entries()) {
    test(`${file} works as it is written, as number ${nth + 1}`, async () => {
      if (times > 1 && nth === order.length / times) await restart();
      const steps = guides.get(file) ?? [];
      const subscribes = steps.some(({ commands }) => /subscribe /.test(commands));
      // Also asserts that the guides before have left neither a subscription nor a block.
      if (subscribes) await leaveBlock(practicesOfGuides.get(file) ?? "riverside-clinic");
      await (file === "README.md" ? runReadme(steps) : runAndCompare(steps));
    });
  }

  const messageOf = async (commands: string): Promise<string> => {
    const failure: unknown = await runGuide(parseGuide(`\`\`\`sh\n${commands}\n\`\`\``), stack).catch((error) => error);
    return (failure as { stderr?: string }).stderr ?? "the commands succeeded";
  };

  test("a guide stops at a refused request, with the problem's text", async () => {
    const steps = (guides.get("docs/guides/practice.md") ?? []).map((step) => ({
      ...step,
      commands: step.commands.replace("ORG=riverside-clinic", "ORG=hilltop-family-practice"),
    }));
    await assert.rejects(runGuide(steps, stack), ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      assert.match(stderr, /^Refused: The caller is not allowed to do this\. /);
      assert.doesNotMatch(stderr, /SyntaxError|TypeError/);
      assert.doesNotMatch(stdout, /\bactive\b/);
      return true;
    });
  });

  for (const [name, command, message] of [
    [
      "the EHR's refusal",
      'call "$EHR/app-installations" -H "$(bearer two-practices)"',
      /^Refused: The token names 2 /m,
    ],
    [
      "each error of a draft",
      `AUTH=$(bearer northwind-developer)
       DRAFT="$API/developer/apps/errors-$(node -p 'crypto.randomUUID()')"
       call "\${DRAFT%/*}" -H "$AUTH" -H "$JSON" -d "{\\"slug\\": \\"\${DRAFT##*/}\\", \\"name\\": \\"Quill\\"}" > /dev/null
       call -X POST "$DRAFT/submit" -H "$AUTH"`,
      /^Refused: The draft has errors\. .*\n( {2}\/.*\n)* {2}\/summary: /,
    ],
    [
      "a response that isn't JSON",
      'call "${API%/api/v1}/problems" -H "Accept: text/html" | pick .id',
      /^Not JSON: <!doctype html>/,
    ],
    ["a service that isn't there", "call http://127.0.0.1:1 | pick .id", /^curl: \(7\) Failed to connect/],
  ] as const) {
    test(`a command prints ${name}, without a stack trace`, async () => {
      const printed = await messageOf(`. docs/guides/functions.sh\n${command}`);
      assert.match(printed, message);
      assert.doesNotMatch(printed, /SyntaxError|TypeError|^\s+at /m);
    });
  }
});

/** What the guides have to show. The tests above compare it with what the commands print. */
describe("the guides show", () => {
  const shown = (guide: string, heading: string): (string | undefined)[] =>
    (guides.get(`docs/guides/${guide}.md`) ?? [])
      .filter((step) => step.heading === heading && step.expectedOutput !== undefined)
      .map(({ expectedOutput }) => expectedOutput);

  for (const [guide, promises] of Object.entries({
    practice: {
      Subscribe: ["active"],
      "Retry with an idempotency key": ["the same subscription", "already-subscribed"],
      "List subscriptions": ["northwind-scribe is active"],
      "Pause and resume": ["paused", "active"],
      Cancel: ["cancelled"],
      "Read the audit log": [
        ["cancel", "resume", "pause", "create"]
          .map((action) => `subscription.${action} by riverside-admin as org-admin`)
          .join("\n"),
        "subscription paused: ORG_REQUEST",
      ],
    },
    "ehr-operator": {
      "Subscription events": ["Northwind Scribe is active, at note-panel"],
      "Rotate a secret": ["true", "paused", "lakeside-clinic", "active\nnull"],
      "Configure an app": ["false\nnull\nour own key"],
      "Authorization server requirements": [
        "the patient is who was meant\nThe launch can't be redeemed: it is unknown, used, expired, or belongs to another user, app or organisation.",
      ],
      "Paused apps": ["paused\nThe app is paused for this organisation; it can't be launched.\nactive"],
      "Reconcile on demand": ["0"],
      "Cancel the subscriptions": ["cancelled", "paused\ncancelled\nsubscription-blocked\ncancelled"],
    },
    "connect-authorization-server": {
      "Watch an app being connected": ["none\nauthorization_code refresh_token", "dcr", "true\ntrue"],
      "Check every token": ["true\ntrue\nlaunch openid fhirUser online_access\nfalse", "paused\nfalse\nactive\ntrue"],
      "Do the tasks": [
        "0",
        "This service registers the client itself, so its client_id can't be set. If it is lost at the authorization server, retry it first.",
      ],
      "Clients that the service can't register, find or remove": ["It is tried again soon.\nready, task: null"],
      "Disconnect it": ["cancelled\nfalse"],
    },
    vendor: {
      "Signing keys": [
        "b1c71659cdc8773d6707fd4db2d55514aa0246ae61b9ac96f9ccb3ab1e97d712\nv1,3944FoVHc1O6ULctcYLef3UCo4pvbxWPdA4okcwjABU=",
      ],
      "Test the endpoint": ["ping, attempt 1, signatures: 1"],
      "Receive a subscription event": ["subscription.created, attempt 1, signatures: 1"],
      "Watch deliveries and attempts": ["answered 503\n1: failed, 503\n2: delivered, 204"],
      "Redeliver a delivery": ["subscription.paused, attempt 3, signatures: 1, seen before"],
      "Replay a time range": ["3"],
      "Rotate the secret": ["ping, attempt 1, signatures: 2", "ping, attempt 1, signatures: 1"],
      "Disabled endpoints": ["it answered 410 Gone", "active\nping, attempt 2, signatures: 1"],
    },
    publishing: {
      "Begin a listing": ["draft", "deleted"],
      "Check it": [
        [
          "/scopePurposes/patient~1Observation.rs scope-purpose-missing",
          "/privacyPolicyUrl link-missing",
          "/termsUrl link-missing",
          "/icon icon-missing",
          "/screenshots screenshot-missing",
          "/plans/0/interval plan-incomplete",
        ].join("\n"),
        "/icon,/screenshots",
      ],
      "Upload pictures and documents": ["1280 × 800, image/webp\n0"],
      "Submit it": ["in-review"],
      "Withdraw it": ["draft\nin-review\nrevision 2 is open\nrevision 1 is withdrawn"],
      "Correct what was rejected": [
        "rejected\nchanges-requested: /summary: Say for whom it is. No criterion covers this.",
        "in-review",
      ],
      "When it is approved": [
        "approved\npublished, revision 3\nNotes for clinicians that write themselves\nhttps://quill.example/back, authorization_code",
      ],
      "Publish a new revision": ["plan-changed", "in-review\napproved\nSolo, the same plan\nTeam, a new plan"],
      "Unpublish and republish": ["unpublished\npublished"],
    },
    reviewing: {
      "The queue": ["Quill,1.0.0,open"],
      "Reject it": ["rejected", "no-open-review"],
      "Approve it": [
        "approved\nSOC2: operator\nHITRUST: null",
        [
          "/fhirScopes scope-added",
          "/supportUrl url-changed",
          "/version",
          "/scopePurposes/patient~1Condition.rs",
          "/plans/0/id",
          "approved",
        ].join("\n"),
      ],
      "Your own edits": ["own-revision\nrejected"],
      "Suspend and reinstate an app": [
        "suspended\nsuspended: The launch URL opens another company's site.\nchanges-requested",
      ],
      "Audit entries": ["review.approve by operator: revision 3 replaced 2", "unpublished"],
    },
    "marketplace-operator": {
      Organisations: ["Meadow Clinic", "Meadow Family Clinic"],
      Vendors: ["Quill Labs"],
      "Pauses and blocks": ["paused\nactive", "northwind-scribe", "paused\ncancelled\nsubscription-blocked\ncancelled"],
    },
  })) {
    for (const [heading, outputs] of Object.entries(promises)) {
      test(`${guide}: ${heading}`, () => assert.deepEqual(shown(guide, heading), outputs));
    }
  }
});
