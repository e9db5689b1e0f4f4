import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Problem } from "@ehr-marketplace/service-kit/http";
import {
  type Caller,
  findRoleForOrganisation,
  type OrganisationRole,
  type Role,
} from "@ehr-marketplace/service-kit/tokens";
import { requireRole } from "./require-role.ts";
import { resolveVendor } from "./vendor-context.ts";

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

function createCaller(given: {
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
    ignoredRoleReasons: given.uncounted ?? [],
  };
}

const refusal = (words: RegExp) => (error: unknown) =>
  error instanceof Problem && error.kind.status === 403 && words.test(error.message);

describe("requireRole", () => {
  const cases: [string, Caller, Role | undefined][] = [
    ["an admin here", createCaller({ in: { here: ["org-admin"] } }), "org-admin"],
    ["a member here", createCaller({ in: { here: ["org-member"] } }), "org-member"],
    ["an admin elsewhere", createCaller({ in: { there: ["org-admin"] } }), undefined],
    ["an admin elsewhere, who is known here", createCaller({ in: { there: ["org-admin"], here: [] } }), undefined],
    ["an operator, wherever", createCaller({ roles: ["operator"] }), "operator"],
    ["billing, wherever", createCaller({ roles: ["billing"] }), "billing"],
    ["an auditor, wherever", createCaller({ roles: ["auditor"] }), "auditor"],
    ["the EHR of this organisation", createCaller({ roles: ["ehr-service"], in: { here: [] } }), "ehr-service"],
    ["the EHR of another organisation", createCaller({ roles: ["ehr-service"], in: { there: [] } }), undefined],
    ["an EHR without organisations", createCaller({ roles: ["ehr-service"] }), undefined],
    ["a vendor's developer: not for an organisation", createCaller({ roles: ["vendor-developer"] }), undefined],
    ["nobody", createCaller({}), undefined],
    [
      "an organisation's role that was granted to nothing",
      createCaller({ roles: ["org-admin", "org-member"] }),
      undefined,
    ],
  ];
  for (const [who, caller, role] of cases) {
    test(`${who}: ${role ?? "none"}`, () => {
      assert.equal(findRoleForOrganisation(caller, "here", everyRole), role);
      if (role === undefined) assert.throws(() => requireRole(caller, "here", everyRole), refusal(/organisation/));
      else assert.equal(requireRole(caller, "here", everyRole), role);
    });
  }

  test("returns the first allowed role that the caller has, and no other", () => {
    const both = createCaller({ roles: ["operator"], in: { here: ["org-admin", "org-member"] } });
    assert.equal(findRoleForOrganisation(both, "here", ["org-member", "operator"]), "org-member");
    assert.equal(findRoleForOrganisation(both, "here", ["operator", "org-member"]), "operator");
    assert.equal(findRoleForOrganisation(both, "here", ["billing"]), undefined);
    assert.equal(findRoleForOrganisation(both, "here", []), undefined);
  });

  for (const alias of ["", "__proto__", "constructor", "HERE", "here ", "here\0"]) {
    test(`grants no role for the alias ${JSON.stringify(alias)}`, () => {
      assert.equal(findRoleForOrganisation(createCaller({ in: { here: ["org-admin"] } }), alias, everyRole), undefined);
    });
  }

  test("the refusal names the role that was not counted, and why", () => {
    const caller = createCaller({ uncounted: ["The role is not counted."] });
    assert.throws(() => requireRole(caller, "here", ["org-admin"]), refusal(/not counted/));
  });
});

describe("resolveVendor", () => {
  const of = (...vendors: string[]): Caller => createCaller({ roles: ["vendor-developer"], vendors });

  test("returns the token's only vendor, or the one in X-Vendor-Slug", () => {
    assert.equal(resolveVendor(of("lumen"), undefined), "lumen");
    assert.equal(resolveVendor(of("lumen"), "lumen"), "lumen");
    assert.equal(resolveVendor(of("lumen", "northwind"), "northwind"), "northwind");
  });

  for (const [what, caller, named, words] of [
    ["another vendor", of("lumen"), "northwind", /X-Vendor-Slug/],
    ["a developer without vendors", of(), undefined, /names no vendor/],
    ["an empty X-Vendor-Slug", of("lumen"), "", /X-Vendor-Slug/],
    ["an own vendor without the role", createCaller({ vendors: ["lumen"] }), "lumen", /role vendor-developer/],
  ] as const) {
    test(`refuses ${what}`, () => {
      assert.throws(() => resolveVendor(caller, named), refusal(words));
    });
  }

  test("asks with 400 for one of several that isn't named", () => {
    assert.throws(
      () => resolveVendor(of("lumen", "northwind"), undefined),
      (error) =>
        error instanceof Problem &&
        error.kind.status === 400 &&
        /^The token names 2 vendors; name the one that you act for in X-Vendor-Slug\.$/.test(error.message),
    );
  });
});
