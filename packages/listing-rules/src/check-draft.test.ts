import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { DraftPlan, ListingDraft } from "@ehr-marketplace/contracts";
import { assertCpuTime } from "@ehr-marketplace/test-kit/cpu-time";
import type { CdsDiscovery } from "./check-cds-hooks.ts";
import { type CheckContext, checkDraft } from "./check-draft.ts";
import type { KnownMedia } from "./check-media.ts";
import { type CriterionCode, criteria } from "./criteria.ts";

const icon = "a".repeat(64);
const screenshot = "b".repeat(64);
const pdf = "c".repeat(64);
const phone = "d".repeat(64);
const [narrow, low, tiny] = ["e", "f", "0"].map((digit) => digit.repeat(64)) as [string, string, string];
const media = new Map<string, KnownMedia>([
  [icon, { kind: "icon", width: 512, height: 512 }],
  [screenshot, { kind: "screenshot", width: 640, height: 400 }],
  [pdf, { kind: "document", width: null, height: null }],
  [phone, { kind: "screenshot", width: 400, height: 640 }],
  [narrow, { kind: "screenshot", width: 399, height: 4_096 }],
  [low, { kind: "screenshot", width: 1_920, height: 399 }],
  [tiny, { kind: "screenshot", width: 639, height: 639 }],
]);

const knownId = "6f1c5f0e-6c5b-4f5e-9d0e-0d4c2a1b3c4d";
const free: DraftPlan = { name: "Free", pricingModel: "FREE", currency: "USD", amount: 0 };
const context: CheckContext = {
  categories: new Set(["DOCUMENTATION"]),
  extensionPoints: new Set(["note-panel"]),
  findMedia: (id) => media.get(id),
  launchedInSandbox: true,
  cdsDiscovery: null,
  knownPlans: [{ ...free, id: knownId }],
  usageCurrencies: new Set(["USD"]),
  allowsHttp: false,
  today: "2026-11-16",
};

const flat: DraftPlan = { name: "Flat", pricingModel: "FLAT", currency: "USD", amount: 4_900, interval: "MONTH" };
const usage: DraftPlan = {
  name: "Usage",
  pricingModel: "USAGE",
  currency: "USD",
  amount: "0.45",
  interval: "MONTH",
  metric: "notes",
  aggregation: "SUM",
};
const tiered: DraftPlan = {
  name: "Tiered",
  pricingModel: "TIERED",
  currency: "EUR",
  interval: "YEAR",
  unitName: "seat",
  tierMode: "GRADUATED",
  tiers: [
    { upTo: 10, unitAmount: 900, flatAmount: 0 },
    { upTo: null, unitAmount: "700.5", flatAmount: 0 },
  ],
};

/** Nothing is wrong with it. */
const complete: ListingDraft = {
  name: "Quill",
  summary: "Notes that write themselves",
  description: "# Quill\n\nWrites **notes**.",
  category: "DOCUMENTATION",
  version: "1.0.0",
  audience: "CLINICIAN",
  extensionPoints: ["note-panel"],
  smartLaunchUrl: "https://quill.example/launch",
  fhirScopes: "openid launch patient/Observation.rs",
  scopePurposes: { "patient/Observation.rs": "Shows the last results beside the note" },
  oauth: { type: "PUBLIC", redirectUris: ["https://quill.example/back"] },
  supportUrl: "https://quill.example/help",
  privacyPolicyUrl: "https://quill.example/privacy",
  termsUrl: "https://quill.example/terms",
  configSchema: { type: "object", properties: { language: { type: "string" } }, additionalProperties: false },
  icon,
  screenshots: [{ media: screenshot, text: "A note beside the chart" }],
  baaDocument: pdf,
  plans: [free, flat, usage, tiered],
};

const found = (draft: ListingDraft, changed: Partial<CheckContext> = {}): [string, string][] =>
  checkDraft(draft, { ...context, ...changed }).problems.map(({ pointer, code }) => [pointer, code]);

test("a complete draft has no problem", () => assert.deepEqual(found(complete), []));

test("an empty draft has every problem of what is missing at once", () => {
  assert.deepEqual(found({}, { launchedInSandbox: false }), [
    ["/name", "text-missing"],
    ["/summary", "text-missing"],
    ["/description", "text-missing"],
    ["/version", "text-missing"],
    ["/category", "text-missing"],
    ["/audience", "audience-missing"],
    ["/oauth", "oauth-missing"],
    ["/supportUrl", "link-missing"],
    ["/privacyPolicyUrl", "link-missing"],
    ["/termsUrl", "link-missing"],
    ["/icon", "icon-missing"],
    ["/screenshots", "screenshot-missing"],
    ["/plans", "plan-missing"],
    ["", "not-launched-in-sandbox"],
  ]);
});

const cases: [CriterionCode, pointer: string, ListingDraft][] = [
  ["text-missing", "/name", { name: " \n" }],
  ["text-renders-to-nothing", "/description", { description: "[](https://a.example)\n\n***\n\n&nbsp;\u200b" }],
  ["text-renders-to-nothing", "/releaseNotes", { releaseNotes: "> - " }],
  ["html-in-markdown", "/description", { description: "Fine <b>but bold</b>" }],
  ["reference-in-markdown", "/releaseNotes", { releaseNotes: "[a]\n\n[a]: https://a.example" }],
  ["image-in-markdown", "/description", { description: "![a](https://a.example/b.png)" }],
  ["link-unusable", "/description", { description: "See [docs](http://a.example) and [more](javascript:x)" }],
  ["link-unusable", "/releaseNotes", { releaseNotes: "<https://user:pw@a.example>" }],
  ["markdown-too-complex", "/description", { description: `a|b\n-|-\n${"c|d\n".repeat(500)}` }],
  ["markdown-too-complex", "/description", { description: `${">".repeat(21)} a` }],
  ["control-character", "/name", { name: "Quill\u0007" }],
  ["control-character", "/summary", { summary: "Two\nlines" }],
  ["control-character", "/version", { version: "1.0\u202e0.2" }],
  ["control-character", "/plans/0/name", { plans: [{ ...free, name: "Fr\tee" }] }],
  ["control-character", "/plans/0/features/1", { plans: [{ ...free, features: ["a", "b\u2028"] }] }],
  ["invisible-character", "/name", { name: "Qu\u200bill" }],
  ["invisible-character", "/plans/0/name", { plans: [{ ...free, name: "Free\ufe0f" }] }],
  [
    "invisible-character",
    "/plans/0/unitName",
    { plans: [{ ...free, pricingModel: "PER_UNIT", amount: 100, interval: "MONTH", unitName: "se\u00adat" }] },
  ],
  ["category-unknown", "/category", { category: "GAMES" }],
  ["extension-point-unknown", "/extensionPoints/1", { extensionPoints: ["note-panel", "moon"] }],
  ["extension-point-twice", "/extensionPoints/1", { extensionPoints: ["note-panel", "note-panel"] }],
  ["cds-services-url-missing", "/cdsServicesUrl", { extensionPoints: ["cds:order-sign"] }],
  ["url-invalid", "/smartLaunchUrl", { smartLaunchUrl: "http://quill.example/launch" }],
  ["url-invalid", "/supportUrl", { supportUrl: "javascript:alert(1)" }],
  ["url-invalid", "/termsUrl", { termsUrl: "https://user:secret@quill.example/" }],
  ["url-invalid", "/websiteUrl", { websiteUrl: "quill.example" }],
  ["url-invalid", "/websiteUrl", { websiteUrl: "https://quill.example/\u0001" }],
  ["url-invalid", "/websiteUrl", { websiteUrl: "https://quill.example/\u202egnp.exe" }],
  ["url-invalid", "/websiteUrl", { websiteUrl: "https://quill.example/\n" }],
  ["url-invalid", "/oauth/redirectUris/0", { oauth: { type: "PUBLIC", redirectUris: ["quill://back"] } }],
  ["scope-invalid", "/fhirScopes", { fhirScopes: "openid patient/observation.read", scopePurposes: {} }],
  [
    "scope-syntax-mixed",
    "/fhirScopes",
    { fhirScopes: "patient/A.rs patient/B.read", scopePurposes: { "patient/A.rs": "a", "patient/B.read": "b" } },
  ],
  ["scope-list-invalid", "/fhirScopes", { fhirScopes: "openid  launch", scopePurposes: {} }],
  ["scope-list-invalid", "/fhirScopes", { fhirScopes: "openid\nlaunch", scopePurposes: {} }],
  ["scope-list-invalid", "/fhirScopes", { fhirScopes: "openid\u00a0launch", scopePurposes: {} }],
  ["scope-list-invalid", "/fhirScopes", { fhirScopes: " openid", scopePurposes: {} }],
  ["scope-list-invalid", "/fhirScopes", { fhirScopes: "openid ", scopePurposes: {} }],
  ["scope-twice", "/fhirScopes", { fhirScopes: "openid openid", scopePurposes: {} }],
  ["scope-broad", "/fhirScopes", { fhirScopes: "user/*.*", scopePurposes: { "user/*.*": "everything" } }],
  ["scope-broad", "/fhirScopes", { fhirScopes: "user/A.cruds", scopePurposes: { "user/A.cruds": "everything" } }],
  ["scope-purpose-missing", "/scopePurposes/patient~1Observation.rs", { scopePurposes: {} }],
  [
    "scope-purpose-unused",
    "/scopePurposes/patient~1B.rs",
    { scopePurposes: { ...complete.scopePurposes, "patient/B.rs": "nothing" } },
  ],
  ["oauth-incomplete", "/oauth/type", { oauth: { redirectUris: ["https://quill.example/back"] } }],
  ["oauth-incomplete", "/oauth/redirectUris", { oauth: { type: "PUBLIC" } }],
  [
    "oauth-incomplete",
    "/oauth/jwksUri",
    { oauth: { type: "ASYMMETRIC", redirectUris: ["https://quill.example/back"] } },
  ],
  ["oauth-incomplete", "/oauth/grantTypes", { oauth: { ...complete.oauth, grantTypes: ["client_credentials"] } }],
  ["oauth-incomplete", "/oauth/grantTypes", { oauth: { ...complete.oauth, grantTypes: ["refresh_token"] } }],
  [
    "oauth-incomplete",
    "/oauth/grantTypes",
    { audience: "BACKEND", oauth: { ...complete.oauth, type: "ASYMMETRIC", jwksUri: "https://quill.example/jwks" } },
  ],
  [
    "oauth-incomplete",
    "/oauth/redirectUris",
    {
      smartLaunchUrl: undefined,
      fhirScopes: "openid",
      scopePurposes: {},
      oauth: { type: "PUBLIC", grantTypes: ["authorization_code"] },
    } as unknown as ListingDraft,
  ],
  [
    "oauth-incomplete",
    "/oauth",
    {
      smartLaunchUrl: undefined,
      fhirScopes: "system/Patient.rs",
      scopePurposes: { "system/Patient.rs": "To list the patients" },
      oauth: { type: "PUBLIC" },
    } as unknown as ListingDraft,
  ],
  ...[
    "https://quill.example/*",
    "https://*.quill.example/back",
    "https://%2A.quill.example/back",
    "https://\uff0a.quill.example/back",
    "https://quill.example/%2a",
    "https://quill.example/back#",
    "https://quill.example/#a",
  ].map((uri): [CriterionCode, string, ListingDraft] => [
    "redirect-uri-invalid",
    "/oauth/redirectUris/1",
    { oauth: { type: "PUBLIC", redirectUris: ["https://quill.example/back", uri] } },
  ]),
  ["url-invalid", "/oauth/redirectUris/0", { oauth: { type: "PUBLIC", redirectUris: ["https://a:b@quill.example/"] } }],
  ...[
    "https://10.0.0.1/back",
    "https://203.0.113.7/back",
    "https://0x7f.1/back",
    "https://[::1]/back",
    "https://localhost/back",
    "https://localhost./back",
    "https://quill/back",
    "https://quill.local/back",
    "https://metadata.google.internal/back",
    "https://QUILL.LOCALHOST/back",
    "https://metadata.google.internal../back",
    "https://kubernetes.default.svc/back",
    "https://printer.lan/back",
    "https://router.home/back",
    "https://router.home.arpa./back",
    "https://home.arpa/back",
    "https://x.corp/back",
    "https://wiki.intranet/back",
    "https://files.private/back",
    "https://a..quill.example/back",
    "https://a!.quill.example/back",
  ].flatMap((url): [CriterionCode, string, ListingDraft][] => [
    ["oauth-host-not-public", "/oauth/redirectUris/0", { oauth: { type: "PUBLIC", redirectUris: [url] } }],
    ["oauth-host-not-public", "/oauth/jwksUri", { oauth: { ...complete.oauth, type: "ASYMMETRIC", jwksUri: url } }],
  ]),
  [
    "redirect-uri-elsewhere",
    "/oauth/redirectUris/1",
    {
      oauth: { type: "PUBLIC", redirectUris: ["https://quill.example:8443/back", "https://login.quill.example/back"] },
    },
  ],
  [
    "grant-type-unknown",
    "/oauth/grantTypes/1",
    { oauth: { ...complete.oauth, grantTypes: ["authorization_code", "password"] } },
  ],
  [
    "client-metadata-too-large",
    "/oauth",
    {
      oauth: {
        type: "PUBLIC",
        redirectUris: Array.from({ length: 20 }, (_, n) => `https://quill.example/${n}/${"x".repeat(200)}`),
      },
    },
  ],
  [
    "config-schema-invalid",
    "/configSchema/properties/a/type",
    { configSchema: { type: "object", properties: { a: {} } } },
  ],
  ["media-unknown", "/icon", { icon: "1".repeat(64) }],
  ["media-unsuitable", "/icon", { icon: screenshot }],
  ["media-unsuitable", "/baaDocument", { baaDocument: screenshot }],
  ["screenshot-missing", "/screenshots/0/media", { screenshots: [{ text: "A note" }] }],
  ...[narrow, low, tiny].map((small): [CriterionCode, string, ListingDraft] => [
    "screenshot-too-small",
    "/screenshots/1/media",
    {
      screenshots: [
        { media: phone, text: "The app on a phone" },
        { media: small, text: "A note" },
      ],
    },
  ]),
  ["alternative-text-missing", "/screenshots/0/text", { screenshots: [{ media: screenshot, text: " " }] }],
  [
    "certification-expired",
    "/trust/certifications/0/validUntil",
    { trust: { certifications: [{ kind: "SOC2", validUntil: "2026-11-15" }] } },
  ],
  ...["0000-01-01", "1899-12-31", "2027-02-29", "2027-13-01", "2027-1-1"].map(
    (validUntil): [CriterionCode, string, ListingDraft] => [
      "date-invalid",
      "/trust/certifications/0/validUntil",
      { trust: { certifications: [{ kind: "SOC2", validUntil }] } },
    ],
  ),
  [
    "date-invalid",
    "/trust/accessibility/reportDate",
    { trust: { accessibility: { standard: "WCAG 2.2 AA", reportDate: "2025-06-31" } } },
  ],
  ["listing-too-large", "", { description: "é".repeat(32 * 1_024) }],
  ["certification-incomplete", "/trust/certifications/0/validUntil", { trust: { certifications: [{ kind: "SOC2" }] } }],
  ["model-card-missing", "/trust/ai/modelCard", { trust: { ai: { kind: "GENERATIVE" } } }],
  ["plan-unknown", "/plans/0/id", { plans: [{ ...free, id: knownId.replace("6", "7") }] }],
  [
    "plan-id-twice",
    "/plans/1/id",
    {
      plans: [
        { ...free, id: knownId },
        { ...free, id: knownId, name: "B" },
      ],
    },
  ],
  ["plan-changed", "/plans/0/name", { plans: [{ ...free, id: knownId, name: "Gratis" }] }],
  ["plan-name-twice", "/plans/1/name", { plans: [free, { ...flat, name: "Free" }] }],
];
for (const [code, pointer, change] of cases) {
  test(`${code}: ${pointer}`, () => assert.deepEqual(found({ ...complete, ...change }), [[pointer, code]]));
}

test("http is for loopback addresses where the marketplace allows it, and for no others", () => {
  const local = {
    ...complete,
    smartLaunchUrl: "http://localhost:4000/launch",
    oauth: { ...complete.oauth, redirectUris: ["http://127.0.0.1:4000/back"], jwksUri: "http://[::1]/jwks" },
  } as ListingDraft;
  assert.deepEqual(found(local, { allowsHttp: true }), []);
  assert.deepEqual(
    found(local).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    [
      ["/oauth/jwksUri", "url-invalid"],
      ["/oauth/redirectUris/0", "url-invalid"],
      ["/smartLaunchUrl", "url-invalid"],
    ],
  );
  const elsewhere = { ...complete, smartLaunchUrl: "http://quill.example/launch" };
  assert.deepEqual(found(elsewhere, { allowsHttp: true }), [["/smartLaunchUrl", "url-invalid"]]);
});

test("hosts of a developer's machine are allowed where the marketplace allows http", () => {
  const redirectUris = ["https://localhost:4000/back", "http://127.0.0.1:4000/back"];
  const local = { ...complete, smartLaunchUrl: "http://[::1]:4000/launch", oauth: { type: "PUBLIC", redirectUris } };
  assert.deepEqual(found(local as ListingDraft, { allowsHttp: true }), []);
});

test("a launch URL, a BAA and a sandbox launch are missed where they are needed only", () => {
  const without = (field: keyof ListingDraft): ListingDraft => ({ ...complete, [field]: undefined });
  assert.deepEqual(found(without("smartLaunchUrl")), [["/smartLaunchUrl", "smart-launch-url-missing"]]);
  assert.deepEqual(found(without("baaDocument")), [["/baaDocument", "baa-missing"]]);
  assert.deepEqual(found({ ...without("baaDocument"), audience: "PATIENT" }), []);
  const noScopes = { ...complete, fhirScopes: "openid", scopePurposes: {} };
  assert.deepEqual(
    found({ ...noScopes, smartLaunchUrl: undefined, baaDocument: undefined } as unknown as ListingDraft),
    [],
  );
  assert.deepEqual(found(complete, { launchedInSandbox: false }), [["", "not-launched-in-sandbox"]]);
});

describe("the hooks of a draft", () => {
  const url = "https://quill.example/cds-services";
  const at = "2026-11-16T09:30:00.000Z";
  const hooked = (...extensionPoints: string[]): ListingDraft => ({
    ...complete,
    extensionPoints,
    cdsServicesUrl: url,
  });
  const foundFor = (draft: ListingDraft, cdsDiscovery: CdsDiscovery | null) => found(draft, { cdsDiscovery });

  test("are as discovered, or each difference is a warning", () => {
    const discovery = { url, at, hooks: ["order-sign", "patient-view"] };
    assert.deepEqual(foundFor(hooked("note-panel", "cds:patient-view", "cds:order-sign"), discovery), []);
    assert.deepEqual(foundFor(hooked("note-panel", "cds:patient-view", "cds:order-select"), discovery), [
      ["/extensionPoints/2", "cds-hook-missing"],
      ["/extensionPoints", "cds-hook-unlisted"],
    ]);
    assert.deepEqual(foundFor(hooked("cds:patient-view"), { url, at, hooks: [] }), [
      ["/extensionPoints/0", "cds-hook-missing"],
    ]);
    const { warnings, errors } = checkDraft(hooked("cds:order-select"), { ...context, cdsDiscovery: discovery });
    assert.deepEqual([errors, warnings], [0, 3]);
  });

  test("aren't known before this URL was read, or if that failed", () => {
    const draft = hooked("cds:patient-view");
    for (const discovery of [null, { url: `${url}/2`, at, hooks: ["patient-view"] }]) {
      assert.deepEqual(foundFor(draft, discovery), [["/cdsServicesUrl", "cds-not-discovered"]]);
    }
    const failed = { url, at, failure: "the server responded with status 404" };
    const [problem] = checkDraft(draft, { ...context, cdsDiscovery: failed }).problems;
    assert.equal(problem?.code, "cds-discovery-failed");
    assert.match(problem?.detail ?? "", /at 2026-11-16T09:30:00.000Z: the server responded with status 404\. Correct/);
  });

  test("aren't compared if the draft names none", () => {
    assert.deepEqual(foundFor({ ...complete, cdsServicesUrl: url }, null), []);
    assert.deepEqual(foundFor(hooked("note-panel"), { url, at, hooks: ["patient-view"] }), []);
  });

  test("named twice, or not as hooks are named, are errors, and reported once", () => {
    const discovery = { url, at, hooks: [] };
    assert.deepEqual(foundFor(hooked("cds:patient-view", "cds:patient-view"), discovery), [
      ["/extensionPoints/1", "extension-point-twice"],
      ["/extensionPoints/0", "cds-hook-missing"],
    ]);
    const invalid = ["cds:", "cds:Order-sign", "cds:org.example.hook", `cds:${"a".repeat(97)}`];
    assert.deepEqual(
      foundFor(hooked(...invalid), discovery),
      invalid.map((_, index) => [`/extensionPoints/${index}`, "extension-point-unknown"]),
    );
  });
});

describe("a plan that can't be computed", () => {
  const { interval: _interval, ...flatOnce } = flat;
  const { metric: _metric, ...unmetered } = usage;
  const { amount: _amount, ...unpriced } = usage;
  const tiers = (...ends: (number | null)[]): DraftPlan => ({
    ...tiered,
    tiers: ends.map((upTo) => ({ upTo, unitAmount: 1, flatAmount: 0 })),
  });
  const planCases: [string, CriterionCode, string, DraftPlan][] = [
    ["without anything", "plan-incomplete", "/name", {}],
    ["of an unknown currency", "plan-currency-unknown", "/currency", { ...flat, currency: "QQQ" }],
    ["by usage that nothing limits", "plan-currency-unlimited", "/currency", { ...usage, currency: "JPY" }],
    ["flat without an interval", "plan-incomplete", "/interval", flatOnce],
    ["flat with fractions", "plan-inconsistent", "/amount", { ...flat, amount: "49.5" }],
    ["flat with tiers", "plan-inconsistent", "/tiers", { ...flat, tiers: [{ upTo: null, unitAmount: 1 }] }],
    ["free with a price", "plan-inconsistent", "/amount", { ...free, amount: 100 }],
    ["usage without a metric", "plan-incomplete", "/metric", unmetered],
    ["usage without a price", "plan-incomplete", "/amount", unpriced],
    [
      "usage with two prices",
      "plan-inconsistent",
      "/amount",
      { ...usage, tiers: tiered.tiers ?? [], tierMode: "VOLUME" },
    ],
    ["usage with tiers without a mode", "plan-incomplete", "/tierMode", { ...unpriced, tiers: tiered.tiers ?? [] }],
    ["tiered without tiers", "plan-incomplete", "/tiers", { ...tiered, tiers: [] }],
    ["tiered with an end", "plan-tiers-invalid", "/tiers/1/upTo", tiers(10, 20)],
    ["tiered with an open tier inside", "plan-tiers-invalid", "/tiers/0/upTo", tiers(null, null)],
    ["tiered with tiers that overlap", "plan-tiers-invalid", "/tiers/1/upTo", tiers(20, 20, null)],
    ["tiered without a price", "plan-tiers-invalid", "/tiers/0", { ...tiered, tiers: [{ upTo: null }] }],
    ["of a blank name", "plan-incomplete", "/name", { ...flat, name: " " }],
    ["usage with a blank metric", "plan-incomplete", "/metric", { ...usage, metric: "" }],
    ["tiered with a blank unit", "plan-incomplete", "/unitName", { ...tiered, unitName: " " }],
    ["flat with a blank unit", "plan-inconsistent", "/unitName", { ...flat, unitName: "" }],
    ["flat with a blank metric", "plan-inconsistent", "/metric", { ...flat, metric: "" }],
    ["with too many units included", "plan-inconsistent", "/includedUnits", { ...flat, includedUnits: 1e300 }],
    ["with a tier that ends too late", "plan-tiers-invalid", "/tiers/0/upTo", tiers(2 ** 53, null)],
    [
      "with a tier of a flat amount that can't be stored",
      "plan-tiers-invalid",
      "/tiers/0/flatAmount",
      { ...tiered, tiers: [{ upTo: null, flatAmount: 1e12 }] },
    ],
    [
      "with a tier of a unit amount that can't be stored",
      "plan-tiers-invalid",
      "/tiers/0/unitAmount",
      { ...tiered, tiers: [{ upTo: null, unitAmount: "0.123456789" }] },
    ],
    ["of more than can be stored", "plan-inconsistent", "/amount", { ...flat, amount: 9_007_199_254_740_991 }],
  ];
  for (const [what, code, pointer, plan] of planCases) {
    test(what, () => {
      const problems = found({ ...complete, plans: [plan] });
      assert.ok(
        problems.some(([at, each]) => at === `/plans/0${pointer}` && each === code),
        JSON.stringify(problems),
      );
    });
  }
});

test("all errors are counted, and no warning displaces one", () => {
  const warnings = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`s${n}`, "unused"]));
  const scopePurposes = { ...complete.scopePurposes, ...warnings };
  const late = { ...complete, scopePurposes, plans: [{ ...flat, currency: "QQQ" }] };
  const { errors, warnings: counted, problems } = checkDraft(late, context);
  assert.deepEqual([errors, counted, problems.length], [1, 600, 500]);
  assert.deepEqual(problems.at(-1)?.pointer, "/plans/0/currency");

  const many = checkDraft({ ...late, fhirScopes: "x ".repeat(700) }, context);
  assert.deepEqual([many.errors > 700, many.problems.length], [true, 500]);
  assert.ok(many.problems.every(({ severity }) => severity === "error"));
});

test("review notes don't count as public", () => {
  assert.deepEqual(found({ ...complete, description: "x".repeat(20_000), reviewNotes: "x".repeat(60_000) }), []);
});

test("every criterion can be found, and every detail says what to do", () => {
  const { smartLaunchUrl: _launch, baaDocument: _baa, ...withoutLaunch } = complete;
  const drafts = [...cases.map(([, , change]) => ({ ...complete, ...change })), {}, withoutLaunch];
  const plans: DraftPlan[] = [
    { ...flat, currency: "QQQ", amount: "1.5" },
    { ...tiered, tiers: [{ upTo: 1 }] },
    { pricingModel: "USAGE", currency: "JPY" },
    {},
  ];
  const cdsServicesUrl = "https://quill.example/cds-services";
  const discovered = { url: cdsServicesUrl, at: "2026-11-16T09:30:00.000Z" };
  const discoveries = [null, { ...discovered, hooks: ["order-sign"] }, { ...discovered, failure: "it isn't JSON" }];
  const hooked: ListingDraft = { extensionPoints: ["cds:patient-view"], cdsServicesUrl };
  const problems = [...drafts, { plans }, hooked].flatMap((draft) =>
    discoveries.flatMap(
      (cdsDiscovery) => checkDraft(draft, { ...context, launchedInSandbox: false, cdsDiscovery }).problems,
    ),
  );
  for (const { detail, code, severity } of problems) {
    assert.match(detail, /^\S.{10,}[.)]$/, code);
    assert.equal(severity, criteria[code].severity);
  }
  const codes = new Set<string>(problems.map(({ code }) => code));
  assert.deepEqual(
    Object.keys(criteria).filter((code) => !codes.has(code)),
    [],
  );
});

test("the largest drafts are checked within 100 ms of CPU time", () => {
  const hostile: ListingDraft[] = [
    { fhirScopes: "a ".repeat(5_000) },
    { fhirScopes: Array.from({ length: 400 }, (_, n) => `patient/A.rs?x=${n}`).join(" ") },
    { scopePurposes: Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`s${n}`, "x".repeat(500)])) },
    {
      plans: Array.from({ length: 20 }, () => ({ ...tiered, tiers: Array.from({ length: 50 }, () => ({ upTo: 1 })) })),
    },
    { description: "[".repeat(20_000), releaseNotes: "- a\n".repeat(1_250) },
    { description: `${">".repeat(99)}${"a\n".repeat(9_950)}`, releaseNotes: `a|b|c\n-|-|-\n${"|\n".repeat(2_490)}` },
    { extensionPoints: Array.from({ length: 50 }, () => "x".repeat(100)) },
  ];
  for (const draft of hostile) {
    assertCpuTime(100, () => checkDraft(draft, context), JSON.stringify(draft).slice(0, 100));
  }
});

test("the README lists every criterion with its severity and meaning, and no other", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const rows = [...readme.matchAll(/^\| `([a-z-]+)` +\| (\w+) +\| (.+?) +\|$/gm)].map(([, ...cells]) => cells);
  assert.deepEqual(
    rows,
    Object.entries(criteria).map(([code, { severity, title }]) => [code, severity, title]),
  );
});
