import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertPrompt } from "@ehr-marketplace/test-kit";
import fc from "fast-check";
import { type Caller, hasRole, hasRoleInOrganisation, roles } from "./caller.ts";
import { buildCaller, type ClaimPaths } from "./claims.ts";

const paths: ClaimPaths = { organisation: "organization", vendor: "vendor", roles: "roles" };

/** Parses claims from JSON, as from a token, so that `__proto__` is an own property. */
function callerWith(claims: string | object, at: Partial<ClaimPaths> = {}): Caller {
  const parsed = JSON.parse(typeof claims === "string" ? claims : JSON.stringify(claims)) as object;
  return buildCaller({ ...parsed, iss: "https://issuer.example", sub: "somebody" }, { ...paths, ...at });
}

const rolesIn = (caller: Caller): Record<string, string[]> =>
  Object.fromEntries(caller.organisations.entries().map(([alias, held]) => [alias, [...held]]));

describe("the organisations of a caller", () => {
  for (const [claims, expected] of [
    [{}, {}],
    [{ organization: "a" }, { a: [] }],
    [{ organization: ["a", "b", "a"] }, { a: [], b: [] }],
    [{ organization: [] }, {}],
    [{ organization: { a: {}, b: { id: "1", roles: [] } } }, { a: [], b: [] }],
    [{ organization: { a: { roles: ["org-admin", "org-member"] } } }, { a: ["org-admin", "org-member"] }],
    [{ organization: { a: { roles: "org-admin" } } }, { a: ["org-admin"] }],
    [
      { organization: { a: { roles: ["org-admin"] }, b: { roles: ["org-member"] } } },
      { a: ["org-admin"], b: ["org-member"] },
    ],
    [
      { organization: { a: { roles: ["operator", "billing", "ehr-service", "ORG-ADMIN", "org-admin ", 1] } } },
      { a: [] },
    ],
    [{ organization: { a: ["org-admin"], b: "org-admin", c: null } }, { a: [], b: [], c: [] }],
    [{ organization: { a: { roles: { "org-admin": true } } } }, { a: [] }],
    [{ organization: ["", "a"], roles: ["org-admin"] }, { a: ["org-admin"] }],
    [{ organization: "", roles: ["org-admin"] }, {}],
    [{ organization: { "": { roles: ["org-admin"] } } }, {}],
    [{ organization: [["a"], { b: 1 }, null, 7, true] }, {}],
    [{ organization: 7, roles: ["org-admin"] }, {}],
    [{ organization: null }, {}],
  ] as const) {
    test(`${JSON.stringify(claims)} are ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(rolesIn(callerWith(claims)), expected);
    });
  }
});

const reasons = {
  none: (role: string) => `The token's role ${role} is ignored, because the token names no organisation.`,
  several: (role: string, many: number) =>
    `The token's role ${role} is ignored, because the token names ${many} organisations and doesn't assign the ` +
    "role to one of them; put the roles of an organisation into organization.<alias>.roles.",
  vendor: "The token's role vendor-developer is ignored, because the token names no vendor.",
};

describe("an organisation role without an organisation", () => {
  for (const organization of ["a", ["a"], ["a", "a"], { a: {} }, { a: { roles: [] } }]) {
    test(`applies to the only organisation: ${JSON.stringify(organization)}`, () => {
      const caller = callerWith({ organization, roles: ["org-admin"] });
      assert.ok(hasRoleInOrganisation(caller, "a", "org-admin") && hasRole(caller, "org-admin"));
      assert.ok(!hasRoleInOrganisation(caller, "a", "org-member") && !hasRole(caller, "org-member"));
      assert.ok(!caller.roles.has("org-admin"), "it is a role in an organisation, not one everywhere");
      assert.deepEqual(caller.ignoredRoleReasons, []);
    });
  }

  test("is ignored without exactly one organisation, with a reason for the caller", () => {
    for (const [claims, uncounted] of [
      [{ roles: ["org-admin"] }, [reasons.none("org-admin")]],
      [{ organization: [], roles: ["org-admin", "org-admin"] }, [reasons.none("org-admin")]],
      [{ organization: ["a", "b"], roles: ["org-member"] }, [reasons.several("org-member", 2)]],
      [{ organization: { a: {}, b: {}, c: {} }, roles: "org-admin" }, [reasons.several("org-admin", 3)]],
      [{ roles: ["vendor-developer", "org-member"] }, [reasons.vendor, reasons.none("org-member")]],
      [{ vendor: "", roles: ["vendor-developer"] }, [reasons.vendor]],
      [{ vendor: [[]], roles: ["vendor-developer"] }, [reasons.vendor]],
    ] as const) {
      const caller = callerWith(claims);
      assert.deepEqual(caller.ignoredRoleReasons, uncounted);
      assert.equal(
        roles.some((role) => hasRole(caller, role)),
        false,
        JSON.stringify(claims),
      );
    }
  });

  test("doesn't affect roles with an organisation", () => {
    const caller = callerWith({
      organization: { a: { roles: ["org-member"] }, b: {} },
      roles: ["org-admin", "operator"],
    });
    assert.deepEqual(rolesIn(caller), { a: ["org-member"], b: [] });
    assert.deepEqual([...caller.roles], ["operator"]);
  });

  test("counts for a developer with one or several vendors", () => {
    for (const [vendor, vendors] of [
      ["v", ["v"]],
      [["v"], ["v"]],
      [
        ["v", "w", "v", 1],
        ["v", "w"],
      ],
    ] as const) {
      const caller = callerWith({ vendor, roles: ["vendor-developer"] });
      assert.deepEqual(
        [[...caller.vendors], hasRole(caller, "vendor-developer"), caller.ignoredRoleReasons],
        [vendors, true, []],
      );
    }
  });
});

describe("a token without roles", () => {
  test("gets the claim in which none were found as the reason", () => {
    for (const claims of [{}, { realm_access: {} }, { realm_access: { roles: [] } }, { roles: ["operator"] }]) {
      const { ignoredRoleReasons } = callerWith(claims, { roles: "realm_access.roles" });
      assert.deepEqual(ignoredRoleReasons, ["No roles found in claim `realm_access.roles`."], JSON.stringify(claims));
    }
  });

  test("gets the known roles as the reason if it has only others", () => {
    assert.deepEqual(callerWith({ roles: ["offline_access", "Operator"] }).ignoredRoleReasons, [
      `None of the roles found in claim \`roles\` is one of: ${roles.join(", ")}.`,
    ]);
  });

  test("needs no reason if it has a role in an organisation", () => {
    assert.deepEqual(callerWith({ organization: { a: { roles: ["org-member"] }, b: {} } }).ignoredRoleReasons, []);
  });
});

describe("claim paths", () => {
  for (const [path, claims] of [
    ["realm_access.roles", { realm_access: { roles: ["operator"] } }],
    ["a.b.c", { a: { b: { c: "operator" } } }],
    ["https://example.com/roles", { "https://example.com/roles": ["operator"] }],
    ["realm_access.roles", { "realm_access.roles": ["operator"], realm_access: { roles: ["billing"] } }],
    ["__proto__.roles", '{"__proto__":{"roles":["operator"]}}'],
    ["constructor", { constructor: ["operator"] }],
  ] as const) {
    test(`${path} is found in ${JSON.stringify(claims)}`, () => {
      assert.deepEqual([...callerWith(claims, { roles: path }).roles], ["operator"]);
    });
  }

  for (const path of [
    "realm_access.roles.x",
    "roles.length",
    "",
    ".",
    "a..b",
    "__proto__",
    "constructor.name",
    "toString",
  ]) {
    test(`${JSON.stringify(path)} finds nothing in a token without that claim`, () => {
      const caller = callerWith(
        { realm_access: { roles: ["operator"] }, roles: ["operator"], a: { b: 1 } },
        { roles: path },
      );
      assert.equal(caller.roles.size, 0);
    });
  }

  test("no path reads inherited properties", () => {
    for (const path of ["constructor.name", "toString.name", "organization.constructor.name"]) {
      const caller = callerWith({ organization: {} }, { organisation: path, vendor: path });
      assert.deepEqual([caller.organisations.size, caller.vendors.size], [0, 0], path);
    }
  });

  test("each of the three claims can have its own path", () => {
    const at = { organisation: "in.orgs", vendor: "in.vendors", roles: "in.roles" };
    const caller = callerWith({ in: { orgs: ["a"], vendors: ["v"], roles: ["org-admin"] }, roles: ["operator"] }, at);
    assert.deepEqual([rolesIn(caller), [...caller.vendors], [...caller.roles]], [{ a: ["org-admin"] }, ["v"], []]);
  });
});

describe("hostile claims", () => {
  const treacherous = fc.constantFrom("__proto__", "constructor", "toString", "roles", "a", "b", "", "org-admin");
  const role = fc.constantFrom(...roles, "root", "__proto__");
  const hostile = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.constantFrom(null, 0, -1, true), treacherous, role, tie("list"), tie("object")),
    list: fc.array(tie("value"), { maxLength: 4 }),
    object: fc.dictionary(fc.oneof(treacherous, role), tie("value"), { maxKeys: 4 }),
  })).value;
  const path = fc.array(treacherous, { minLength: 1, maxLength: 3 }).map((names) => names.join("."));

  test("never throw, and never grant a role that the token doesn't have", () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, path, (organization, vendor, held, rolesPath) => {
        const text = JSON.stringify({ organization, vendor, roles: held, a: held });
        for (const at of [{}, { roles: rolesPath }, { organisation: rolesPath, vendor: rolesPath }]) {
          const caller = callerWith(text, at);
          for (const each of roles)
            if (hasRole(caller, each)) assert.ok(text.includes(`"${each}"`), `${each}: ${text}`);
          for (const alias of caller.organisations.keys())
            assert.ok(alias !== "" && text.includes(JSON.stringify(alias)));
          for (const slug of caller.vendors) assert.ok(slug !== "" && text.includes(JSON.stringify(slug)));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("never grant a role of one organisation in another", () => {
    const aliases = fc.constantFrom("a", "b", "c", "__proto__", "constructor", "toString", "hasOwnProperty");
    const about = fc.record({ roles: fc.uniqueArray(fc.constantFrom("org-admin", "org-member")) });
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(aliases, about), { selector: ([alias]) => alias, minLength: 2 }), (each) => {
        const inside = each.map(([alias, said]) => `${JSON.stringify(alias)}:${JSON.stringify(said)}`).join(",");
        const caller = callerWith(`{"organization":{${inside}},"roles":["org-admin","org-member"]}`);
        assert.equal(caller.organisations.size, each.length);
        for (const [alias, said] of each) assert.deepEqual([...(caller.organisations.get(alias) ?? [])], said.roles);
        assert.equal(caller.ignoredRoleReasons.length, 2);
      }),
    );
  });

  test("are parsed quickly in great number, with few reasons", async () => {
    const many = Array.from({ length: 10_000 }, (_, n) => `organisation-${n}`);
    await assertPrompt(1_000, () => {
      const caller = callerWith({ organization: many, vendor: many, roles: many.map(() => "org-admin") });
      assert.deepEqual(caller.ignoredRoleReasons, [reasons.several("org-admin", 10_000)]);
      assert.equal(hasRole(caller, "org-admin"), false);
    });
  });
});
