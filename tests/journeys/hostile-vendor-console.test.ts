import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type {
  AuditEntry,
  InstallationDto,
  LaunchLogEntry,
  NoticeDto,
  SubscriptionDto,
} from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually, isFullRun } from "@ehr-marketplace/test-kit";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { assertNoSidewaysScroll, choosePersona } from "@ehr-marketplace/tests/support/console";
import { sendJson, startMarketplaceStub } from "@ehr-marketplace/tests/support/marketplace-stub";
import { type OpenedPage, openPage } from "@ehr-marketplace/tests/support/storefront";
import { type RunningWeb, startWeb } from "@ehr-marketplace/tests/support/web";
import type { Locator, Page } from "playwright-core";
import {
  attacks,
  combinedAttacks,
  createHostileApp,
  createHostileCatalog,
  findForeignElements,
  instant,
} from "./hostile-catalog.ts";

const practice = "/practice/riverside-clinic";
const alias = "riverside-clinic";
const patienceMs = 120_000;
const addedScope = "patient/Observation.rs";

/** Each kind of field that a form can have, with the attack wherever a vendor writes text. */
function createHostileSchema(attack: string): Record<string, unknown> {
  const words = { title: attack, description: attack };
  const properties = {
    choice: { type: "string", ...words, enum: [attack, "b"] },
    text: { type: "string", ...words, default: attack },
    secret: { type: "string", ...words, writeOnly: true },
    isOn: { type: "boolean", ...words },
    count: { type: "integer", ...words },
    part: {
      type: "object",
      ...words,
      properties: { inner: { type: "string", ...words } },
      additionalProperties: false,
    },
  };
  return { type: "object", ...words, properties, additionalProperties: false };
}

/** What both APIs respond to the console, by path. */
function createResponses(attack: string): readonly (readonly [RegExp, unknown])[] {
  const { app: listed, plan, month } = createHostileApp(attack);
  const app = {
    ...listed,
    scopePurposes: { ...listed.scopePurposes, [addedScope]: attack },
    configSchema: createHostileSchema(attack),
  };
  const { id: appId, slug: appSlug, name, iconUrl, category, extensionPoints, smartLaunchUrl, fhirScopes } = app;
  const subscription: SubscriptionDto & { app: unknown } = {
    id: "01900000-0000-7000-8000-000000000003",
    appId,
    appSlug,
    orgAlias: alias,
    pricingPlanId: plan.id,
    quantity: 1,
    fhirScopes,
    pendingScopes: `${addedScope} ${attack}`,
    status: "active",
    pauseReason: null,
    trialEndsAt: null,
    createdAt: instant,
    updatedAt: instant,
    pausedAt: null,
    cancelledAt: null,
    pricingPlan: plan,
    app: { id: appId, slug: appSlug, name, iconUrl, category, extensionPoints, smartLaunchUrl, fhirScopes },
  };
  const installation: InstallationDto = {
    id: "01900000-0000-7000-8000-000000000004",
    appId,
    appSlug,
    name,
    iconUrl,
    category,
    extensionPoints,
    smartLaunchUrl,
    cdsServicesUrl: null,
    fhirScopes,
    status: "active",
    subscriptionId: subscription.id,
    connection: { status: "failed", clientId: attack, reason: attack },
    config: { text: attack },
    installedAt: instant,
    updatedAt: instant,
  };
  const launch: LaunchLogEntry = {
    launchId: "01900000-0000-7000-8000-000000000007",
    launchType: "smart",
    user: attack,
    launchedAt: instant,
  };
  const entry: AuditEntry = {
    id: "01900000-0000-7000-8000-000000000006",
    at: instant,
    actor: { issuer: attack, subject: attack, role: attack },
    action: "subscription.create",
    target: { kind: "subscription", id: subscription.id },
    onBehalfOf: alias,
    requestId: attack,
    before: { [attack]: attack },
    after: { text: attack },
  };
  const notice: NoticeDto = {
    id: "01900000-0000-7000-8000-000000000005",
    // Its detail is shown as the marketplace has written it.
    kind: "spend-limit",
    severity: "warning",
    subject: attack,
    detail: attack,
    link: `${attack}/subscriptions?open=${subscription.id}`,
    createdAt: instant,
    readAt: null,
  };
  const head = {
    month: "2026-11",
    status: "open",
    asOf: instant,
    totals: [{ currency: "USD", total: 3, carriedOver: 0, due: 3 }],
  };
  const lines = month.lines.map((line) => ({
    ...line,
    subscriptionId: subscription.id,
    appSlug,
    appName: name,
    currency: "USD",
    adjusts: null,
    creditId: null,
  }));
  const statement = { ...head, orgAlias: alias, lines };
  const estimate = { ...month, currency: "USD", projectedTotal: 3, credited: 0, spendLimit: null, leastLimit: null };
  const connection = { status: "failed", clientId: attack, reason: attack, updatedAt: instant };
  return [
    [/\/apps\/[^/?]+$/, app],
    [/\/subscriptions\/[^/?]+\/estimate/, estimate],
    [/\/subscriptions\/[^/?]+\/connection/, connection],
    [/\/subscriptions\?/, [subscription]],
    [/\/statements\//, statement],
    [/\/statements/, { items: [head], next: null }],
    [/\/notices/, { items: [notice], next: null }],
    [/\/notice-settings/, { email: null, mutedKinds: [], isConfirmed: false }],
    [/\/audit/, { items: [entry], next: null }],
    [/\/launches/, { success: true, message: "", data: { items: [launch], next: null } }],
    [/\/app-installations\/[^/?]+/, { success: true, message: "", data: installation }],
    [/\/app-installations/, { success: true, message: "", data: [installation] }],
    ...createHostileCatalog(attack),
  ];
}

describe("what a vendor writes is text, in every screen of the console", () => {
  const cleanUp = cleanUpAfter();
  let web: RunningWeb;
  let opened: OpenedPage;
  let responses: ReturnType<typeof createResponses>;
  before(async () => {
    const stub = await startMarketplaceStub(cleanUp, (request, response) => {
      const path = (request.url ?? "").replace(/^\/api(\/v1)?/, "");
      sendJson(response, 200, responses.find(([pattern]) => pattern.test(path))?.[1] ?? {});
    });
    const { origin } = new URL(stub.url);
    web = await startWeb(cleanUp, { marketplaceUrl: origin, ehrUrl: origin });
    responses = createResponses("harmless");
    opened = await openPage(await launchChromium(cleanUp), { web, marketplace: web });
    const { page } = opened;
    await page.goto(practice);
    await page.getByRole("link", { name: "Sign in", exact: true }).click();
    await choosePersona(page, "riverside-admin");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    // The sign-in is at another origin.
    opened.mistakes.length = 0;
  });

  /** The drawer scrolls by itself. */
  async function assertFits(page: Page, state: string): Promise<void> {
    await assertNoSidewaysScroll(page, state);
    const excess = `Math.max(0, ...[...document.querySelectorAll("[role=dialog]")].map((each) => each.scrollWidth - each.clientWidth))`;
    assert.equal(await page.evaluate<number>(excess), 0, `the dialog of ${state} is too wide`);
  }

  test("a text without spaces makes no screen wider than the window", async (t) => {
    const word = "Wxyz".repeat(20);
    const { page } = opened;
    t.after(() => page.setViewportSize({ width: 1280, height: 720 }));
    const screens: [string, Locator][] = [
      [practice, page.getByRole("listitem").first()],
      [`${practice}/subscriptions`, page.getByRole("button", { name: word })],
      [
        `${practice}/subscriptions?open=01900000-0000-7000-8000-000000000003`,
        page.getByText("Projected for the month"),
      ],
      [`${practice}/apps`, page.getByRole("link", { name: `Settings of ${word}` })],
      [`${practice}/apps/hostile-app`, page.getByRole("button", { name: "Save settings" })],
      [`${practice}/apps/hostile-app/launches`, page.getByRole("cell", { name: "In the EHR" })],
      [`${practice}/statements/2026-11`, page.getByText(word).last()],
      [`${practice}/notices`, page.getByRole("button", { name: /^Mark as read/ })],
      [`${practice}/audit`, page.getByRole("button", { name: /^Show details/ })],
      ["/console/subscribe/hostile-app", page.getByText("subscribes to")],
      [`/console/subscribed/hostile-app?practice=${alias}`, page.getByText("Installed in your EHR", { exact: true })],
    ];
    const subscribing = page.getByRole("checkbox", { name: /I accept/ });
    for (const width of [1024, 320]) {
      await page.setViewportSize({ width, height: 640 });
      responses = createResponses(word);
      for (const [path, shown] of screens) {
        await page.goto(path);
        await shown.waitFor();
        await assertFits(page, `${path} in ${width} pixels`);
      }
      responses = [[/\/subscriptions\?/, []], ...responses];
      await page.goto("/console/subscribe/hostile-app");
      await subscribing.waitFor();
      await assertFits(page, `subscribing in ${width} pixels`);
    }
    opened.mistakes.length = 0;
  });

  // Nothing of the attack becomes an element, an attribute, a request or a dialog.
  for (const [nth, attack] of (isFullRun ? attacks : combinedAttacks).entries()) {
    test(`attack ${nth + 1}: ${JSON.stringify(attack.slice(0, 60))}`, async () => {
      responses = createResponses(attack);
      const { page, mistakes } = opened;
      const content = page.locator("#content");
      const drawer = page.getByRole("dialog").filter({ has: page.getByRole("heading", { name: "History" }) });
      /** It is there letter by letter, and nothing else has come of it. */
      const assertText = async (screen: string, within = content): Promise<void> => {
        const showsIt = async (): Promise<boolean> => (await within.textContent())?.includes(attack) === true;
        await eventually(`${screen} shows it`, patienceMs, showsIt);
        assert.deepEqual(await page.evaluate(findForeignElements), [], screen);
        assert.ok(page.url().startsWith(web.url), page.url());
      };
      await page.goto(practice);
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.getByRole("listitem").first().waitFor();
      await assertText("overview");
      await page.getByRole("link", { name: "Statements", exact: true }).click();
      await page.getByRole("link", { name: "November 2026" }).click();
      await page.getByRole("heading", { name: "Charges in USD" }).waitFor();
      await assertText("statement");
      await page.getByRole("link", { name: /^Notices/ }).click();
      await page.getByRole("button", { name: "Save" }).waitFor();
      await page.getByRole("button", { name: /^Mark as read/ }).waitFor();
      await assertText("notices");
      await page.getByRole("link", { name: "Audit" }).click();
      await page.getByRole("button", { name: /^Show details/ }).click();
      await assertText("audit", page.locator(".entry-details"));

      await page.goto(`${practice}/subscriptions?open=01900000-0000-7000-8000-000000000003`);
      await drawer.getByRole("listitem").first().waitFor();
      await drawer.getByText("Projected for the month").waitFor();
      await assertText("details", drawer);
      for (const [button, back] of [
        ["Review and agree", "Not now"],
        ["Change plan", "Back"],
        ["Pause", "Back"],
        ["Set a limit", "Back"],
        ["Cancel subscription", "Keep it"],
      ] as const) {
        await drawer.getByRole("button", { name: button, exact: true }).click();
        const keep = page.getByRole("button", { name: back, exact: true });
        await keep.waitFor();
        if (button === "Change plan") await page.getByRole("radio").first().waitFor();
        await assertText(button, page.getByRole("dialog").filter({ has: keep }));
        await keep.click();
        await keep.waitFor({ state: "hidden" });
      }
      await page.goto(`${practice}/apps`);
      await page.getByRole("cell").first().waitFor();
      await assertText("installed apps");
      await page.goto(`${practice}/apps/hostile-app`);
      await page.getByRole("button", { name: "Save settings" }).waitFor();
      assert.equal(await page.getByRole("checkbox").count(), 1, "the form is made of the schema");
      await assertText("settings");
      await page.getByRole("link", { name: "Launches" }).click();
      await page.getByRole("cell", { name: "In the EHR" }).waitFor();
      await assertText("launches", page.getByRole("cell").nth(1));
      responses = [[/\/subscriptions\?/, []], ...responses];
      await page.goto("/console/subscribe/hostile-app");
      await page.getByRole("checkbox", { name: /I agree/ }).check();
      await page.getByRole("checkbox", { name: /I accept/ }).check();
      await assertText("subscribing");
      await page.getByRole("button", { name: "Review and subscribe" }).click();
      await page.getByRole("dialog").waitFor();
      await assertText("confirming", page.getByRole("dialog"));
      responses = createResponses(attack);
      await page.goto(`/console/subscribed/hostile-app?practice=${alias}`);
      await page.getByText("Installed in your EHR", { exact: true }).waitFor();
      await assertText("subscribed");
      // The policy refuses icons of other origins, and says so in the console.
      assert.deepEqual(
        mistakes.splice(0).filter((mistake) => !/img-src|Failed to load resource/.test(mistake)),
        [],
      );
    });
  }
});
