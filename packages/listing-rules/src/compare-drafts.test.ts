import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { type DraftPlan, type ListingDraft, listingDraft } from "@ehr-marketplace/contracts";
import { rounds } from "@ehr-marketplace/test-kit";
import { assertCpuTime } from "@ehr-marketplace/test-kit/cpu-time";
import fc from "fast-check";
import { compareDrafts, type Difference, type DifferenceMark } from "./compare-drafts.ts";
import { findAddedScopes } from "./scopes.ts";

const differencesOf = (before: ListingDraft | null, after: ListingDraft): Difference[] => {
  const { differences, truncated } = compareDrafts(before, after);
  assert.equal(truncated, false);
  return differences;
};
const [one, other] = ["6f1c5f0e-6c5b-4f5e-9d0e-0d4c2a1b3c4d", "7a2d6f1f-7d6c-4a6f-8e1f-1e5d3b2c4d5e"];
const free: DraftPlan = { id: one, name: "Free", pricingModel: "FREE" };
const flat: DraftPlan = { id: other, name: "Flat", pricingModel: "FLAT", amount: 100 };

describe("the difference of", () => {
  const cases: [string, ListingDraft, ListingDraft, Difference[]][] = [
    ["equal drafts is nothing", { name: "A", plans: [free] }, { plans: [{ ...free }], name: "A" }, []],
    [
      "texts is one for each field, added, removed and changed",
      { name: "A", summary: "s" },
      { name: "B", version: "1" },
      [
        { pointer: "/name", before: "A", after: "B" },
        { pointer: "/summary", before: "s" },
        { pointer: "/version", after: "1" },
      ],
    ],
    [
      "scopes is what they mean",
      { fhirScopes: "openid patient/A.read patient/B.rs" },
      { fhirScopes: "patient/A.rs launch patient/C.rs" },
      [
        { pointer: "/fhirScopes", after: "launch", mark: "scope-added" },
        { pointer: "/fhirScopes", after: "patient/C.rs", mark: "scope-added" },
        { pointer: "/fhirScopes", before: "openid" },
        { pointer: "/fhirScopes", before: "patient/B.rs" },
      ],
    ],
    [
      "redirect URIs and extension points doesn't depend on their order",
      { oauth: { redirectUris: ["a", "b"] }, extensionPoints: ["x", "y"] },
      { oauth: { redirectUris: ["c", "b", "a"] }, extensionPoints: ["y", "x", "x"] },
      [{ pointer: "/oauth/redirectUris/0", after: "c", mark: "redirect-uri-changed" }],
    ],
    [
      "a redirect URI and the keys is marked, also if nothing else of the client changes",
      { oauth: { type: "ASYMMETRIC", redirectUris: ["a"], jwksUri: "k", grantTypes: ["authorization_code"] } },
      { oauth: { type: "ASYMMETRIC", redirectUris: ["b"], jwksUri: "l", grantTypes: ["authorization_code"] } },
      [
        { pointer: "/oauth/redirectUris/0", after: "b", mark: "redirect-uri-changed" },
        { pointer: "/oauth/redirectUris/0", before: "a", mark: "redirect-uri-changed" },
        { pointer: "/oauth/jwksUri", before: "k", after: "l", mark: "url-changed" },
      ],
    ],
    [
      "an object that was added has each marked field, and the rest",
      {},
      { oauth: { type: "ASYMMETRIC", redirectUris: ["a"], jwksUri: "b" } },
      [
        { pointer: "/oauth/redirectUris/0", after: "a", mark: "redirect-uri-changed" },
        { pointer: "/oauth/jwksUri", after: "b", mark: "url-changed" },
        { pointer: "/oauth/type", after: "ASYMMETRIC" },
      ],
    ],
    [
      "an object that was removed has each marked field",
      { trust: { certifications: [{ evidenceUrl: "a" }], accessibility: { reportUrl: "b" } } },
      {},
      [
        { pointer: "/trust/certifications/0/evidenceUrl", before: "a", mark: "url-changed" },
        { pointer: "/trust/accessibility/reportUrl", before: "b", mark: "url-changed" },
      ],
    ],
    ["none and an empty object is seen", {}, { oauth: {} }, [{ pointer: "/oauth", after: {} }]],
    [
      "the audience and the agreement is marked",
      { audience: "PATIENT", baaDocument: "a" },
      { audience: "CLINICIAN" },
      [
        { pointer: "/audience", before: "PATIENT", after: "CLINICIAN", mark: "audience-changed" },
        { pointer: "/baaDocument", before: "a", mark: "baa-changed" },
      ],
    ],
    [
      "plans is found by their ids",
      { plans: [free, flat] },
      { plans: [{ name: "New" }, free, { ...flat, amount: 200 }] },
      [
        { pointer: "/plans/0", after: { name: "New" } },
        { pointer: "/plans/2/amount", before: 100, after: 200 },
      ],
    ],
    [
      "plans in another order is that",
      { plans: [free, flat] },
      { plans: [flat, free] },
      [{ pointer: "/plans", before: ["Free", "Flat"], after: ["Flat", "Free"] }],
    ],
    [
      "plans without ids is found in their order",
      { plans: [{ name: "A" }, { name: "B" }] },
      { plans: [{ id: one, name: "A" }] },
      [
        { pointer: "/plans/0/id", after: one },
        { pointer: "/plans/1", before: { name: "B" } },
      ],
    ],
    [
      "names that look like marked fields has no mark",
      { configSchema: { properties: { smartLaunchUrl: 1, oauth: { redirectUris: [] } } } },
      {
        configSchema: {
          properties: { smartLaunchUrl: 2, oauth: { redirectUris: ["a"], jwksUri: "b" } },
          fhirScopes: "a",
        },
        scopePurposes: { "xUrl/y~": "c", constructor: "d", fhirScopes: "e" },
      },
      [
        { pointer: "/configSchema/properties/smartLaunchUrl", before: 1, after: 2 },
        { pointer: "/configSchema/properties/oauth/redirectUris/0", after: "a" },
        { pointer: "/configSchema/properties/oauth/jwksUri", after: "b" },
        { pointer: "/configSchema/fhirScopes", after: "a" },
        { pointer: "/scopePurposes", after: { "xUrl/y~": "c", constructor: "d", fhirScopes: "e" } },
      ],
    ],
    [
      "names with slashes is a valid pointer",
      { scopePurposes: { "patient/A.rs": "a" } },
      { scopePurposes: { "patient/A.rs": "b" } },
      [{ pointer: "/scopePurposes/patient~1A.rs", before: "a", after: "b" }],
    ],
  ];
  for (const [what, before, after, expected] of cases) {
    test(what, () => assert.deepEqual(differencesOf(before, after), expected));
  }
});

test("everything is new if nothing was public", () => {
  assert.deepEqual(differencesOf(null, { name: "A", fhirScopes: "openid", termsUrl: "t" }), [
    { pointer: "/fhirScopes", after: "openid", mark: "scope-added" },
    { pointer: "/termsUrl", after: "t", mark: "url-changed" },
    { pointer: "/name", after: "A" },
  ]);
});

test("every URL of the contract has a mark", () => {
  interface Schema {
    properties?: Record<string, Schema>;
    items?: Schema;
  }
  const found: string[] = [];
  const visit = (schema: Schema, build: (value: unknown) => unknown): void => {
    for (const [name, each] of Object.entries(schema.properties ?? {})) {
      const buildField = (value: unknown): unknown => build({ [name]: value });
      if (/Ur(l|is?)$/.test(name)) {
        found.push(name);
        const [before, after] = ["a", "b"].map((text) => buildField(each.items === undefined ? text : [text]));
        for (const from of [before, {}, null]) {
          const differences = differencesOf(from as ListingDraft | null, after as ListingDraft);
          const marks = new Set<DifferenceMark | undefined>(["url-changed", "redirect-uri-changed"]);
          assert.ok(differences.length > 0 && differences.every(({ mark }) => marks.has(mark)), name);
        }
      }
      visit(each, buildField);
      if (each.items !== undefined) visit(each.items, (value) => buildField([value]));
    }
  };
  visit(listingDraft as Schema, (value) => value);
  assert.deepEqual(found.toSorted(), [
    "cdsServicesUrl",
    "evidenceUrl",
    "jwksUri",
    "privacyPolicyUrl",
    "redirectUris",
    "reportUrl",
    "smartLaunchUrl",
    "supportUrl",
    "termsUrl",
    "websiteUrl",
  ]);
});

test("a long value is shortened to where it differs", () => {
  const start = "x".repeat(5_000);
  const [difference] = differencesOf(
    { description: `${start}old` },
    { description: `${start}new${"y".repeat(9_000)}` },
  );
  assert.equal(difference?.shortened, true);
  assert.equal(difference.before, `…${"x".repeat(200)}old`);
  assert.match(String(difference.after), /^…x{200}new/);
  assert.ok(String(difference.after).length <= 2_001);

  const [added] = differencesOf({}, { configSchema: { description: "é".repeat(3_000) } });
  assert.deepEqual([added?.pointer, added?.shortened, String(added?.after).length], ["/configSchema", true, 2_000]);
  const [whole] = differencesOf({}, { description: `${"x".repeat(1_999)}😀` });
  assert.ok(String(whole?.after).isWellFormed());
  const [fits] = differencesOf({}, { description: "x".repeat(2_000) });
  assert.deepEqual(fits, { pointer: "/description", after: "x".repeat(2_000) });
});

test("at most 1,000 differences are listed, those with a mark first", () => {
  const properties = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`p${n}`, n]));
  const before = { configSchema: { properties: {} }, fhirScopes: "", termsUrl: "a" };
  const after = { configSchema: { properties }, fhirScopes: "openid", termsUrl: "b" };
  const { differences, truncated } = compareDrafts(before, after);
  assert.deepEqual([differences.length, truncated], [1_000, true]);
  assert.deepEqual(
    differences.slice(0, 3).map(({ mark }) => mark),
    ["scope-added", "url-changed", undefined],
  );
});

test("differences below long names are one, so that their pointers stay short in total", () => {
  const nest = (value: unknown): ListingDraft => {
    let configSchema: Record<string, unknown> = { value };
    for (let level = 0; level < 50; level += 1) configSchema = { ["n".repeat(2_000)]: configSchema };
    return { configSchema };
  };
  const numbers = Array.from({ length: 5_000 }, (_, n) => n);
  const differences = differencesOf(nest(numbers), nest(numbers.toReversed()));
  assert.deepEqual(
    differences.map(({ pointer, shortened }) => [pointer, shortened]),
    [[`/configSchema/${"n".repeat(2_000)}`, true]],
  );
  assert.deepEqual(differencesOf(nest(numbers), nest([...numbers])), []);
});

test("the largest drafts are compared within 50 ms of CPU time", () => {
  const numbered = (count: number, offset = 0): Record<string, number> =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n + offset]));
  const scopes = (prefix: string): string =>
    Array.from({ length: 700 }, (_, n) => `${prefix}/*.r?a=${n.toString(36)}`).join(" ");
  let deep: Record<string, unknown> = numbered(10_000);
  for (let level = 0; level < 60; level += 1) deep = { ["/~".repeat(500)]: deep };
  const hostile: [ListingDraft | null, ListingDraft][] = [
    [{ configSchema: numbered(10_000) }, { configSchema: numbered(10_000, 1) }],
    [{ configSchema: numbered(10_000) }, { configSchema: numbered(10_000) }],
    [{ configSchema: {} }, { configSchema: numbered(10_000) }],
    [{ configSchema: { enum: Array(100_000).fill(1) } }, { configSchema: { enum: Array(100_000).fill(2) } }],
    [{ configSchema: { a: "x".repeat(250_000) } }, { configSchema: { a: `${"x".repeat(249_999)}y` } }],
    [{ configSchema: deep }, { configSchema: JSON.parse(JSON.stringify(deep).replaceAll(/\d+,/g, "1,")) }],
    [{ fhirScopes: scopes("user") }, { fhirScopes: scopes("patient") }],
    [null, { configSchema: numbered(10_000) }],
  ];
  for (const [index, [before, after]] of hostile.entries()) {
    assertCpuTime(50, () => compareDrafts(before, after), `${index}`);
  }
});

describe("drafts of any kind", () => {
  const optional = <T>(values: Record<string, fc.Arbitrary<T>>) => fc.record(values, { requiredKeys: [] });
  const word = fc.constantFrom("", "a", "b", "constructor");
  const list = fc.array(word, { maxLength: 3 });
  const plan = optional<unknown>({
    id: fc.constantFrom(one, other),
    name: word,
    amount: fc.constantFrom(null, 0, 1),
    features: list,
  });
  const draft = optional<unknown>({
    name: word,
    audience: fc.constantFrom("PATIENT", "CLINICIAN"),
    termsUrl: word,
    extensionPoints: list,
    fhirScopes: fc
      .array(fc.constantFrom("openid", "patient/A.rs", "patient/A.read", "patient/*.r", "patient/A.s", "x"), {
        maxLength: 3,
      })
      .map((all) => all.join(" ")),
    scopePurposes: fc.dictionary(word, word, { maxKeys: 2 }),
    oauth: optional<unknown>({ type: word, redirectUris: list, jwksUri: word, contacts: list }),
    configSchema: fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }),
    trust: optional<unknown>({
      certifications: fc.array(optional({ kind: word, evidenceUrl: word }), { maxLength: 2 }),
      ai: optional({ kind: word }),
    }),
    plans: fc.array(plan, { maxLength: 3 }),
  }).map((value) => JSON.parse(JSON.stringify(value)) as ListingDraft);
  const runs = { numRuns: rounds(2_000, 50_000) };

  /** The same for drafts that differ in nothing but their scopes. */
  function normalise({ fhirScopes: _scopes, extensionPoints, oauth, ...rest }: ListingDraft): unknown {
    const asSet = (values: string[] | undefined): string[] => [...new Set(values)].toSorted();
    const client = oauth === undefined ? undefined : { ...oauth, redirectUris: asSet(oauth.redirectUris) };
    return { ...rest, extensionPoints: asSet(extensionPoints), oauth: client };
  }
  const isEqual = (before: ListingDraft, after: ListingDraft): boolean =>
    isDeepStrictEqual(normalise(before), normalise(after)) &&
    findAddedScopes(before.fhirScopes ?? "", after.fhirScopes ?? "").length === 0 &&
    findAddedScopes(after.fhirScopes ?? "", before.fhirScopes ?? "").length === 0;

  test("have no differences exactly if they are equal by meaning", () => {
    // Pairs that differ in a few fields only are more telling than two independent ones.
    const related = fc.tuple(
      draft,
      draft,
      fc.subarray(["name", "fhirScopes", "extensionPoints", "oauth", "plans", "trust"] as const),
    );
    fc.assert(
      fc.property(related, ([before, random, fields]) => {
        const after = { ...before, ...Object.fromEntries(fields.map((field) => [field, random[field]])) };
        for (const changed of [JSON.parse(JSON.stringify(after)) as ListingDraft, random]) {
          const message = JSON.stringify([before, changed]);
          assert.equal(differencesOf(before, changed).length === 0, isEqual(before, changed), message);
        }
        assert.deepEqual(differencesOf(before, structuredClone(before)), []);
      }),
      runs,
    );
  });

  test("have as many differences in one direction as in the other, with sides exchanged", () => {
    const isMarked = ({ mark }: Difference): boolean => mark !== undefined && mark !== "scope-added";
    fc.assert(
      fc.property(draft, draft, (before, after) => {
        const { plans: _before, ...old } = before;
        const { plans: _after, ...current } = after;
        const [there, back] = [differencesOf(old, current), differencesOf(current, old)];
        assert.equal(there.length, back.length);
        assert.equal(there.filter(isMarked).length, back.filter(isMarked).length);
      }),
      runs,
    );
  });
});
