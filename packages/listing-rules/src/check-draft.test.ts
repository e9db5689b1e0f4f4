import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { DraftPlan, ListingDraft } from "@ehr-marketplace/contracts";
import { type CheckContext, checkDraft } from "./check-draft.ts";
import { type CriterionCode, criteria } from "./criteria.ts";

const icon = "a".repeat(64);
const screenshot = "b".repeat(64);
const pdf = "c".repeat(64);
const uses = new Map([
  [icon, "icon"],
  [screenshot, "screenshot"],
  [pdf, "document"],
] as const);

const context: CheckContext = {
  categories: new Set(["DOCUMENTATION"]),
  extensionPoints: new Set(["note-panel"]),
  findMedia: (id) => {
    const use = uses.get(id);
    return use === undefined ? undefined : { use };
  },
  launchedInSandbox: true,
  today: "2026-11-16",
};

const free: DraftPlan = { name: "Free", pricingModel: "FREE", currency: "USD", amount: 0 };
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
  checkDraft(draft, { ...context, ...changed }).map(({ pointer, code }) => [pointer, code]);

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
  ["text-renders-to-nothing", "/releaseNotes", { releaseNotes: "[a]: https://a.example" }],
  ["html-in-markdown", "/description", { description: "Fine <b>but bold</b>" }],
  ["category-unknown", "/category", { category: "GAMES" }],
  ["extension-point-unknown", "/extensionPoints/1", { extensionPoints: ["note-panel", "moon"] }],
  ["extension-point-twice", "/extensionPoints/1", { extensionPoints: ["note-panel", "note-panel"] }],
  ["cds-services-url-missing", "/cdsServicesUrl", { extensionPoints: ["cds:order-sign"] }],
  ["url-invalid", "/smartLaunchUrl", { smartLaunchUrl: "http://quill.example/launch" }],
  ["url-invalid", "/supportUrl", { supportUrl: "javascript:alert(1)" }],
  ["url-invalid", "/termsUrl", { termsUrl: "https://user:secret@quill.example/" }],
  ["url-invalid", "/websiteUrl", { websiteUrl: "quill.example" }],
  ["url-invalid", "/oauth/redirectUris/0", { oauth: { type: "PUBLIC", redirectUris: ["quill://back"] } }],
  ["scope-invalid", "/fhirScopes", { fhirScopes: "openid patient/observation.read", scopePurposes: {} }],
  [
    "scope-syntax-mixed",
    "/fhirScopes",
    { fhirScopes: "patient/A.rs patient/B.read", scopePurposes: { "patient/A.rs": "a", "patient/B.read": "b" } },
  ],
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
  [
    "config-schema-invalid",
    "/configSchema/properties/a/type",
    { configSchema: { type: "object", properties: { a: {} } } },
  ],
  ["media-unknown", "/icon", { icon: "d".repeat(64) }],
  ["media-unsuitable", "/icon", { icon: screenshot }],
  ["media-unsuitable", "/baaDocument", { baaDocument: screenshot }],
  ["screenshot-missing", "/screenshots/0/media", { screenshots: [{ text: "A note" }] }],
  ["alternative-text-missing", "/screenshots/0/text", { screenshots: [{ media: screenshot, text: " " }] }],
  [
    "certification-expired",
    "/trust/certifications/0/validUntil",
    { trust: { certifications: [{ kind: "SOC2", validUntil: "2026-11-15" }] } },
  ],
  ["certification-incomplete", "/trust/certifications/0/validUntil", { trust: { certifications: [{ kind: "SOC2" }] } }],
  ["model-card-missing", "/trust/ai/modelCard", { trust: { ai: { kind: "GENERATIVE" } } }],
  ["plan-name-twice", "/plans/1/name", { plans: [free, { ...flat, name: "Free" }] }],
];
for (const [code, pointer, change] of cases) {
  test(`${code}: ${pointer}`, () => assert.deepEqual(found({ ...complete, ...change }), [[pointer, code]]));
}

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

test("every criterion can be found, and every detail says what to do", () => {
  const { smartLaunchUrl: _launch, baaDocument: _baa, ...withoutLaunch } = complete;
  const drafts = [...cases.map(([, , change]) => ({ ...complete, ...change })), {}, withoutLaunch];
  const plans: DraftPlan[] = [{ ...flat, currency: "QQQ", amount: "1.5" }, { ...tiered, tiers: [{ upTo: 1 }] }, {}];
  const problems = [...drafts, { plans }].flatMap((draft) =>
    checkDraft(draft, { ...context, launchedInSandbox: false }),
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
    { extensionPoints: Array.from({ length: 50 }, () => "x".repeat(100)) },
  ];
  for (const draft of hostile) {
    checkDraft(draft, context);
    const began = process.threadCpuUsage();
    checkDraft(draft, context);
    const { user, system } = process.threadCpuUsage(began);
    assert.ok((user + system) / 1_000 < 100, JSON.stringify(draft).slice(0, 100));
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
