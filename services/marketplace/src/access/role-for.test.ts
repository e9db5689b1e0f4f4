import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { type Caller, type OrganisationRole, type Role, roleFor } from "@ehr-marketplace/service-kit/tokens";
import { actingVendor } from "./acting-vendor.ts";
import { requireRole } from "./role-for.ts";

const everyRole: Role[] = [
  "operator",
  "billing",
  "auditor",
  "org-admin",
  "org-member",
  "vendor-developer",
  "ehr-service",
  "launch-redeemer",
];

function someone(given: {
  roles?: Role[];
  in?: Record<string, OrganisationRole[]>;
  vendors?: string[];
  uncounted?: string[];
}): Caller {
  return {
    issuer: "https://id.example",
    subject: "someone",
    roles: new Set(given.roles),
    organisations: new Map(Object.entries(given.in ?? {}).map(([alias, roles]) => [alias, new Set(roles)])),
    vendors: new Set(given.vendors),
    uncounted: given.uncounted ?? [],
  };
}

const refusal = (words: RegExp) => (error: unknown) =>
  error instanceof Problem && error.kind.status === 403 && words.test(error.message);

describe("the role that a caller has for an organisation", () => {
  const cases: [string, Caller, Role | undefined][] = [
    ["an admin here", someone({ in: { here: ["org-admin"] } }), "org-admin"],
    ["a member here", someone({ in: { here: ["org-member"] } }), "org-member"],
    ["an admin elsewhere", someone({ in: { there: ["org-admin"] } }), undefined],
    ["an admin elsewhere, who is known here", someone({ in: { there: ["org-admin"], here: [] } }), undefined],
    ["an operator, wherever", someone({ roles: ["operator"] }), "operator"],
    ["billing, wherever", someone({ roles: ["billing"] }), "billing"],
    ["an auditor, wherever", someone({ roles: ["auditor"] }), "auditor"],
    ["the EHR of this organisation", someone({ roles: ["ehr-service"], in: { here: [] } }), "ehr-service"],
    ["the EHR of another organisation", someone({ roles: ["ehr-service"], in: { there: [] } }), undefined],
    ["an EHR of nobody", someone({ roles: ["ehr-service"] }), undefined],
    ["a vendor's developer: not for an organisation", someone({ roles: ["vendor-developer"] }), undefined],
    ["nobody", someone({}), undefined],
    ["an organisation's role that was granted to nothing", someone({ roles: ["org-admin", "org-member"] }), undefined],
  ];
  for (const [who, caller, role] of cases) {
    test(`${who}: ${role ?? "none"}`, () => {
      assert.equal(roleFor(caller, "here", everyRole), role);
      if (role === undefined) assert.throws(() => requireRole(caller, "here", everyRole), refusal(/organisation/));
      else assert.equal(requireRole(caller, "here", everyRole), role);
    });
  }

  test("is the first of those that are asked for, and none that isn't", () => {
    const both = someone({ roles: ["operator"], in: { here: ["org-admin", "org-member"] } });
    assert.equal(roleFor(both, "here", ["org-member", "operator"]), "org-member");
    assert.equal(roleFor(both, "here", ["operator", "org-member"]), "operator");
    assert.equal(roleFor(both, "here", ["billing"]), undefined);
    assert.equal(roleFor(both, "here", []), undefined);
  });

  for (const alias of ["", "__proto__", "constructor", "HERE", "here ", "here\0"]) {
    test(`is none for ${JSON.stringify(alias)}, which only looks like something`, () => {
      assert.equal(roleFor(someone({ in: { here: ["org-admin"] } }), alias, everyRole), undefined);
    });
  }

  test("whoever is refused learns which role was not counted, and why", () => {
    const caller = someone({ uncounted: ["The role is not counted."] });
    assert.throws(() => requireRole(caller, "here", ["org-admin"]), refusal(/not counted/));
  });
});

describe("the vendor that a developer acts for", () => {
  const of = (...vendors: string[]): Caller => someone({ roles: ["vendor-developer"], vendors });

  test("is the only one, or the one that is named", () => {
    assert.equal(actingVendor(of("lumen"), undefined), "lumen");
    assert.equal(actingVendor(of("lumen"), "lumen"), "lumen");
    assert.equal(actingVendor(of("lumen", "northwind"), "northwind"), "northwind");
  });

  for (const [what, caller, named, words] of [
    ["another's", of("lumen"), "northwind", /X-Vendor-Slug/],
    ["one of several, unnamed", of("lumen", "northwind"), undefined, /names 2 vendors/],
    ["nobody's", of(), undefined, /names 0 vendors/],
    ["an empty name's", of("lumen"), "", /X-Vendor-Slug/],
    ["one's own without the role", someone({ vendors: ["lumen"] }), "lumen", /role vendor-developer/],
  ] as const) {
    test(`is never ${what}`, () => {
      assert.throws(() => actingVendor(caller, named), refusal(words));
    });
  }
});
