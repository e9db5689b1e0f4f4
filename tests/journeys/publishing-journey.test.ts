import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type {
  AppDto,
  InstallationDto,
  LaunchDto,
  ListingCheck,
  ListingDto,
  PricingPlanDto,
  ReviewDto,
  SubscriptionDto,
} from "@ehr-marketplace/contracts";
import { type Persona, requestAccessToken } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually, promisedMs } from "@ehr-marketplace/test-kit";
import { type RequestOptions, sendApiRequest, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { drawPng } from "@ehr-marketplace/tests/support/publisher";
import { type Stack, startStack } from "@ehr-marketplace/tests/support/stack";

const [vendor, appSlug, sandboxSlug] = ["juniper-labs", "juniper-dosing", "sandbox-juniper-dosing"];
const [sandbox, practice] = ["juniper-sandbox", "riverside-clinic"];
const sandboxSecret = "the-secret-of-the-sandbox";
const [developer, tester] = ["juniper-developer", "juniper-tester"] as const;
const agreement = Buffer.from("%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n");
const patientId = "pat-4711";

const byClinician = {
  name: "By clinician",
  pricingModel: "TIERED",
  currency: "USD",
  interval: "MONTH",
  unitName: "clinician",
  tierMode: "GRADUATED",
  tiers: [
    { upTo: 5, unitAmount: 900, flatAmount: 0 },
    { upTo: null, unitAmount: 700, flatAmount: 0 },
  ],
};

/** As a hurried developer would write it: twelve errors, each of another kind. */
const hurried = {
  summary: "",
  description: "#",
  category: "DOSING",
  version: "1.0.0",
  audience: "CLINICIAN",
  extensionPoints: ["patient-chart-tabs"],
  smartLaunchUrl: "http://juniper.example/launch",
  fhirScopes: "openid launch patient/Observation.rs patient/everything",
  oauth: { type: "PUBLIC" },
  supportUrl: "https://juniper.example/help",
  privacyPolicyUrl: "https://juniper.example/privacy",
  termsUrl: "https://juniper.example/terms",
  configSchema: { type: "object", properties: { unit: { type: "kilogram" } } },
  plans: [{ ...byClinician, tiers: [{ upTo: 5, unitAmount: 900, flatAmount: 0 }] }],
};

/** Pointer and code of each error, and the change that corrects it. Pictures are corrected by uploading them. */
const corrections: [problem: string, change: object][] = [
  ["/summary text-missing", { summary: "Doses by weight and kidney function" }],
  ["/description text-renders-to-nothing", { description: "# Juniper Dosing\n\nDoses **by weight**." }],
  ["/category category-unknown", { category: "ORDERING_PRESCRIBING" }],
  ["/extensionPoints/0 extension-point-unknown", { extensionPoints: ["patient-chart-tab"] }],
  ["/smartLaunchUrl url-invalid", { smartLaunchUrl: "https://juniper.example/launch" }],
  ["/fhirScopes scope-invalid", { fhirScopes: "openid launch patient/Observation.rs" }],
  [
    "/scopePurposes/patient~1Observation.rs scope-purpose-missing",
    { scopePurposes: { "patient/Observation.rs": "Weight and kidney function decide the dose" } },
  ],
  ["/oauth/redirectUris oauth-incomplete", { oauth: { redirectUris: ["https://juniper.example/back"] } }],
  ["/plans/0/tiers/0/upTo plan-tiers-invalid", { plans: [byClinician] }],
  [
    "/configSchema/properties/unit/type config-schema-invalid",
    { configSchema: { properties: { unit: { type: "string", enum: ["kg", "lb"] } } } },
  ],
];

interface Answer<T> {
  status: number;
  headers: Headers;
  data: T;
}

/** From nothing to a launch with a patient, and on through the life of the app. Each test continues from the previous one. */
describe("a new vendor's app", () => {
  const cleanUp = cleanUpAfter();
  let stack: Stack;
  let testSubscription: SubscriptionDto;
  let subscription: SubscriptionDto;
  const found: { seconds: number; uncachedSeconds: number }[] = [];

  before(async () => {
    stack = await startStack(cleanUp);
  });

  const tokenOf = (persona: Persona): Promise<string> => requestAccessToken(stack.issuer, persona);

  async function marketplace<T>(persona: Persona, path: string, options?: RequestOptions): Promise<Answer<T>> {
    const response = await sendApiRequest(stack.marketplaceUrl, path, await tokenOf(persona), options);
    return { status: response.status, headers: response.headers, data: (await response.json()) as T };
  }
  async function succeed<T>(persona: Persona, path: string, options?: RequestOptions): Promise<T> {
    const { status, data } = await marketplace<T>(persona, path, options);
    assert.ok(status < 300, `${path}: ${status} ${JSON.stringify(data)}`);
    return data;
  }
  async function ehr<T>(persona: Persona, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const response = await sendRequest(`${stack.ehrUrl}/api${path}`, await tokenOf(persona), options);
    const { data } = (await response.json()) as { data: T };
    return { status: response.status, headers: response.headers, data };
  }

  const listingPath = `/developer/apps/${appSlug}`;
  async function edit(changes: object): Promise<ListingDto> {
    const etag = (await marketplace(developer, listingPath)).headers.get("etag") ?? "";
    return succeed(developer, listingPath, { method: "PATCH", body: changes, headers: { "if-match": etag } });
  }
  async function findProblems(severity: "error" | "warning"): Promise<string[]> {
    const { problems } = await succeed<ListingCheck>(developer, `${listingPath}/check`);
    return problems.filter((each) => each.severity === severity).map(({ pointer, code }) => `${pointer} ${code}`);
  }
  async function upload(kind: string, type: string, file: Buffer): Promise<string> {
    const options = { body: file, headers: { "content-type": type } };
    return (await succeed<{ id: string }>(developer, `${listingPath}/media?kind=${kind}`, options)).id;
  }
  async function submit(): Promise<string> {
    const { review } = await succeed<ListingDto>(developer, `${listingPath}/submit`, { method: "POST" });
    return review?.id ?? assert.fail("there is no review");
  }
  const decide = (reviewId: string, decision: "approve" | "reject", body: object = {}): Promise<ReviewDto> =>
    succeed("operator", `/admin/reviews/${reviewId}/${decision}`, { body });

  const search = async (words: string): Promise<AppDto[]> => {
    const response = await fetch(`${stack.marketplaceUrl}/api/v1/apps/search?q=${encodeURIComponent(words)}`);
    return (await response.json()) as AppDto[];
  };
  const secondsSince = (began: number): number => (performance.now() - began) / 1_000;
  /** Approves the review, and measures how long a search takes that was cached before to find the new text. */
  async function publish(reviewId: string, words: string): Promise<void> {
    await search(words);
    await decide(reviewId, "approve");
    const approvedAt = performance.now();
    await eventually(`the search finds "${words}"`, 15_000, async () => (await search(words))[0]?.slug === appSlug);
    const seconds = secondsSince(approvedAt);
    const began = performance.now();
    await search(`${words} ${began}`);
    found.push({ seconds, uncachedSeconds: secondsSince(began) });
  }

  const installationOf = (who: Persona, slug: string): Promise<Answer<InstallationDto>> =>
    ehr<InstallationDto>(who, `/app-installations/${slug}`);
  const installed = (): Promise<Answer<InstallationDto>> => installationOf("riverside-admin", appSlug);
  const launch = (who: Persona, slug: string): Promise<Answer<LaunchDto>> =>
    ehr<LaunchDto>(who, `/app-installations/${slug}/launch`, { body: { patientId } });
  /** Launches the app, and redeems the launch as the authorization server of the EHR does when the app has been opened. */
  async function open(who: Persona, orgAlias: string, slug: string) {
    const { status, data } = await launch(who, slug);
    assert.equal(status, 200);
    const opened = new URL(data.launchUrl ?? "");
    assert.equal(opened.origin + opened.pathname, "https://juniper.example/launch");
    assert.ok(opened.searchParams.get("iss")?.endsWith(orgAlias));
    assert.ok(!opened.href.includes(patientId), "the patient isn't in the URL");
    const user = await subjectOf(who);
    const body = { launch: opened.searchParams.get("launch"), orgAlias, appSlug: slug, user };
    const redeemed = await ehr<{ patient: string; fhirScopes: string; subscriptionId: string }>(
      "launch-redeemer",
      "/internal/launch-contexts/consume",
      { body },
    );
    assert.equal(redeemed.status, 200);
    return redeemed.data;
  }
  async function subjectOf(who: Persona): Promise<string> {
    const [, payload = ""] = (await tokenOf(who)).split(".");
    return (JSON.parse(Buffer.from(payload, "base64url").toString()) as { sub: string }).sub;
  }

  test("begins when an operator registers the vendor, and gives it a sandbox organisation", async () => {
    const refused = await marketplace(developer, "/developer/apps", {
      body: { slug: appSlug, name: "Juniper Dosing" },
    });
    assert.ok(refused.status >= 400, "the vendor isn't registered yet");
    await succeed("operator", `/admin/vendors/${vendor}`, {
      method: "PUT",
      body: {
        name: "Juniper Labs",
        websiteUrl: "https://juniper.example",
        supportEmail: "help@juniper.example",
        securityContact: "security@juniper.example",
        commissionPercent: 20,
      },
    });
    await succeed("operator", `/admin/organisations/${sandbox}`, {
      method: "PUT",
      body: {
        displayName: "Juniper's sandbox",
        kind: "SANDBOX",
        vendorSlug: vendor,
        callbackUrl: stack.ehrUrl,
        callbackNetworks: ["127.0.0.0/8"],
        secret: sandboxSecret,
      },
    });
    const options = { method: "PUT", body: { secret: sandboxSecret } };
    assert.equal((await ehr("operator", `/admin/organisations/${sandbox}/secret`, options)).status, 201);
    const listing = await succeed<ListingDto>(developer, "/developer/apps", {
      body: { slug: appSlug, name: "Juniper Dosing" },
    });
    assert.equal(listing.status, "draft");
  });

  test("has twelve errors at first, and none once each is corrected", async () => {
    await edit(hurried);
    const pictures = ["/icon icon-missing", "/screenshots screenshot-missing"];
    let remaining = [...corrections.map(([problem]) => problem), ...pictures].toSorted();
    assert.equal(remaining.length, 12);
    assert.deepEqual((await findProblems("error")).toSorted(), remaining);
    for (const [problem, change] of corrections) {
      await edit(change);
      remaining = remaining.filter((each) => each !== problem);
      assert.deepEqual((await findProblems("error")).toSorted(), remaining, problem);
    }
    const icon = await upload("icon", "image/png", drawPng(512, 512));
    const media = await upload("screenshot", "image/png", drawPng(1_280, 800));
    const baaDocument = await upload("document", "application/pdf", agreement);
    await edit({ icon, screenshots: [{ media, text: "The dose beside the chart" }], baaDocument });
    assert.deepEqual(await findProblems("error"), []);
    assert.deepEqual(await findProblems("warning"), [" not-launched-in-sandbox"]);
  });

  test("is tried in the sandbox before anyone reviews it, and is public nowhere", async () => {
    const body = { orgAlias: sandbox };
    testSubscription = await succeed(developer, `${listingPath}/test-subscriptions`, { body });
    assert.deepEqual([testSubscription.appSlug, testSubscription.status], [sandboxSlug, "active"]);
    assert.equal(testSubscription.pricingPlan.pricingModel, "FREE");
    await eventually("the draft is installed", 30_000, async () => {
      const { status, data } = await installationOf(tester, sandboxSlug);
      return status === 200 && data.status === "active";
    });
    const context = await open(tester, sandbox, sandboxSlug);
    assert.deepEqual(context.fhirScopes.split(" ").toSorted(), ["launch", "openid", "patient/Observation.rs"]);
    assert.equal(context.patient, patientId);
    await eventually("the check knows of the launch", 30_000, async () => (await findProblems("warning")).length === 0);
    for (const slug of [appSlug, sandboxSlug]) {
      assert.equal((await fetch(`${stack.marketplaceUrl}/api/v1/apps/${slug}`)).status, 404, slug);
    }
    const refused = await marketplace("riverside-admin", "/subscriptions", {
      body: { appSlug: sandboxSlug, orgAlias: practice, pricingPlanId: testSubscription.pricingPlanId },
    });
    assert.equal(refused.status, 422);
  });

  test("is rejected with reasons, corrected, approved, and found by search within a second", async () => {
    const rejected = await decide(await submit(), "reject", {
      reasons: [{ pointer: "/summary", text: "Say that a clinician decides on the dose. No criterion covers this." }],
    });
    assert.equal(rejected.status, "rejected");
    const { status, review } = await succeed<ListingDto>(developer, listingPath);
    assert.deepEqual([status, review?.reasons.map(({ pointer }) => pointer)], ["changes-requested", ["/summary"]]);
    await edit({ summary: "Suggests doses by weight and kidney function; clinicians decide" });
    await publish(await submit(), "juniper dosing kidney");
    assert.equal((await succeed<ListingDto>(developer, listingPath)).status, "published");
  });

  test("is subscribed to with the agreement and the scopes, installed, and launched", async () => {
    const app = await succeed<AppDto>("riverside-admin", `/apps/${appSlug}`);
    const [plan] = await succeed<PricingPlanDto[]>("riverside-admin", `/apps/${appSlug}/pricing`);
    assert.deepEqual([app.baaRequired, plan?.name], [true, "By clinician"]);
    const file = await fetch(app.baaUrl ?? "");
    assert.deepEqual(
      Buffer.from(await file.arrayBuffer()),
      agreement,
      "the agreement can be read before it is accepted",
    );
    const { fhirScopes } = app;
    const body = { appSlug, orgAlias: practice, pricingPlanId: plan?.id, quantity: 3, fhirScopes };
    const refused = await marketplace<{ code: string }>("riverside-admin", "/subscriptions", { body });
    assert.deepEqual([refused.status, refused.data.code], [422, "baa-required"]);
    subscription = await succeed("riverside-admin", "/subscriptions", { body: { ...body, acceptBaa: true } });
    await eventually("the app is installed", 30_000, async () => (await installed()).status === 200);
    const context = await open("riverside-member", practice, appSlug);
    assert.deepEqual([context.patient, context.fhirScopes], [patientId, fhirScopes]);
    assert.equal(context.subscriptionId, subscription.id);
  });

  test("gets an added scope only once the practice agrees, and the EHR hears of it", async () => {
    const added = "patient/MedicationRequest.rs";
    const { draft } = await edit({
      version: "1.1.0",
      releaseNotes: "Considers other medication.",
      summary: "Suggests doses by weight, interactions and kidney function; clinicians decide",
      fhirScopes: `openid launch patient/Observation.rs ${added}`,
      scopePurposes: { [added]: "Other medication changes the dose" },
    });
    const reviewId = await submit();
    const { differences } = await succeed<ReviewDto>("operator", `/admin/reviews/${reviewId}`);
    assert.ok(differences.some(({ mark }) => mark === "scope-added"));
    await publish(reviewId, "juniper interactions");
    const pending = await succeed<SubscriptionDto>("riverside-admin", `/subscriptions/${subscription.id}`);
    assert.deepEqual([pending.fhirScopes, pending.pendingScopes], [subscription.fhirScopes, added]);
    assert.ok(!(await open("riverside-member", practice, appSlug)).fhirScopes.includes(added));

    const body = { fhirScopes: draft.fhirScopes };
    const agreed = await succeed<SubscriptionDto>("riverside-admin", `/subscriptions/${subscription.id}/consent`, {
      body,
    });
    assert.equal(agreed.pendingScopes, "");
    await eventually("the EHR has heard of it", 30_000, async () =>
      (await installed()).data.fhirScopes.includes(added),
    );
    assert.ok((await open("riverside-member", practice, appSlug)).fhirScopes.includes(added));
  });

  test("can't be launched while it is suspended for security, and can once it is reinstated", async () => {
    const operate = (action: string, body?: object): Promise<ListingDto> =>
      succeed("operator", `/admin/apps/${appSlug}/${action}`, { method: "POST", ...(body && { body }) });
    await operate("suspend", { reason: "A redirect URI was taken over", pauseSubscriptions: true });
    await eventually("the practice can't launch it", 60_000, async () => {
      return (await launch("riverside-member", appSlug)).status === 409;
    });
    assert.equal((await fetch(`${stack.marketplaceUrl}/api/v1/apps/${appSlug}`)).status, 404);
    const paused = await succeed<SubscriptionDto>("riverside-admin", `/subscriptions/${subscription.id}`);
    assert.deepEqual([paused.status, paused.pauseReason], ["paused", "SECURITY"]);
    await operate("reinstate");
    await eventually("the practice can launch it", 60_000, async () => {
      return (await launch("riverside-member", appSlug)).status === 200;
    });
    assert.equal((await fetch(`${stack.marketplaceUrl}/api/v1/apps/${appSlug}`)).status, 200);
  });

  test("was found within a second of an approval", () => {
    // The better of two, and besides the second the time of three searches: other work may keep the processors busy.
    const isInTime = found.some(
      ({ seconds, uncachedSeconds }) => seconds * 1_000 <= promisedMs(1_000 + 3_000 * uncachedSeconds),
    );
    assert.ok(isInTime, JSON.stringify(found));
  });
});
