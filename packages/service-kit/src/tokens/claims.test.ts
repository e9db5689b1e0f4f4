import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { type Caller, holds, holdsIn, roles } from "./caller.ts";
import { type ClaimPaths, callerFrom } from "./claims.ts";

const paths: ClaimPaths = { organisation: "organization", vendor: "vendor", roles: "roles" };

/** As from a token: parsed, so that a name such as `__proto__` is a name like any other. */
function callerWith(claims: string | object, at: Partial<ClaimPaths> = {}): Caller {
  const parsed = JSON.parse(typeof claims === "string" ? claims : JSON.stringify(claims)) as object;
  return callerFrom({ ...parsed, iss: "https://issuer.example", sub: "somebody" }, { ...paths, ...at });
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

const because = {
  none: (role: string) => `The token's role ${role} isn't counted, because the token names no organisation.`,
  several: (role: string, many: number) =>
    `The token's role ${role} isn't counted, because the token names ${many} organisations and doesn't say in which of ` +
    "them it holds; roles of one organisation belong into organization.<alias>.roles.",
  vendor: "The token's role vendor-developer isn't counted, because the token names no vendor.",
};

describe("a role that doesn't say where it holds", () => {
  for (const organization of ["a", ["a"], ["a", "a"], { a: {} }, { a: { roles: [] } }]) {
    test(`holds in the only organisation there is: ${JSON.stringify(organization)}`, () => {
      const caller = callerWith({ organization, roles: ["org-admin"] });
      assert.ok(holdsIn(caller, "a", "org-admin") && holds(caller, "org-admin"));
      assert.ok(!holdsIn(caller, "a", "org-member") && !holds(caller, "org-member"));
      assert.ok(!caller.roles.has("org-admin"), "it is a role in an organisation, not one everywhere");
      assert.deepEqual(caller.uncounted, []);
    });
  }

  test("is not counted where there is none, or a choice, and the caller hears why", () => {
    for (const [claims, uncounted] of [
      [{ roles: ["org-admin"] }, [because.none("org-admin")]],
      [{ organization: [], roles: ["org-admin", "org-admin"] }, [because.none("org-admin")]],
      [{ organization: ["a", "b"], roles: ["org-member"] }, [because.several("org-member", 2)]],
      [{ organization: { a: {}, b: {}, c: {} }, roles: "org-admin" }, [because.several("org-admin", 3)]],
      [{ roles: ["vendor-developer", "org-member"] }, [because.vendor, because.none("org-member")]],
      [{ vendor: "", roles: ["vendor-developer"] }, [because.vendor]],
      [{ vendor: [[]], roles: ["vendor-developer"] }, [because.vendor]],
    ] as const) {
      const caller = callerWith(claims);
      assert.deepEqual(caller.uncounted, uncounted);
      assert.equal(
        roles.some((role) => holds(caller, role)),
        false,
        JSON.stringify(claims),
      );
    }
  });

  test("takes nothing from those that do say it", () => {
    const caller = callerWith({
      organization: { a: { roles: ["org-member"] }, b: {} },
      roles: ["org-admin", "operator"],
    });
    assert.deepEqual(rolesIn(caller), { a: ["org-member"], b: [] });
    assert.deepEqual([...caller.roles], ["operator"]);
  });

  test("counts for a developer with a vendor, or several: each request then says for which", () => {
    for (const [vendor, vendors] of [
      ["v", ["v"]],
      [["v"], ["v"]],
      [
        ["v", "w", "v", 1],
        ["v", "w"],
      ],
    ] as const) {
      const caller = callerWith({ vendor, roles: ["vendor-developer"] });
      assert.deepEqual([[...caller.vendors], holds(caller, "vendor-developer"), caller.uncounted], [vendors, true, []]);
    }
  });
});

describe("where a claim is", () => {
  for (const [path, claims] of [
    ["realm_access.roles", { realm_access: { roles: ["operator"] } }],
    ["a.b.c", { a: { b: { c: "operator" } } }],
    ["https://example.com/roles", { "https://example.com/roles": ["operator"] }],
    ["realm_access.roles", { "realm_access.roles": ["operator"], realm_access: { roles: ["billing"] } }],
    ["__proto__.roles", '{"__proto__":{"roles":["operator"]}}'],
    ["constructor", { constructor: ["operator"] }],
  ] as const) {
    test(`${path} leads into ${JSON.stringify(claims)}`, () => {
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
    test(`${JSON.stringify(path)} leads nowhere in a token that has no such claim`, () => {
      const caller = callerWith(
        { realm_access: { roles: ["operator"] }, roles: ["operator"], a: { b: 1 } },
        { roles: path },
      );
      assert.equal(caller.roles.size, 0);
    });
  }

  test("no path leads to what every object has", () => {
    for (const path of ["constructor.name", "toString.name", "organization.constructor.name"]) {
      const caller = callerWith({ organization: {} }, { organisation: path, vendor: path });
      assert.deepEqual([caller.organisations.size, caller.vendors.size], [0, 0], path);
    }
  });

  test("each of the three may be anywhere", () => {
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

  test("never throw, and never give a role that the token doesn't carry", () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, path, (organization, vendor, held, rolesPath) => {
        const text = JSON.stringify({ organization, vendor, roles: held, a: held });
        for (const at of [{}, { roles: rolesPath }, { organisation: rolesPath, vendor: rolesPath }]) {
          const caller = callerWith(text, at);
          for (const each of roles) if (holds(caller, each)) assert.ok(text.includes(`"${each}"`), `${each}: ${text}`);
          for (const alias of caller.organisations.keys())
            assert.ok(alias !== "" && text.includes(JSON.stringify(alias)));
          for (const slug of caller.vendors) assert.ok(slug !== "" && text.includes(JSON.stringify(slug)));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("never carry a role of one organisation into another", () => {
    const aliases = fc.constantFrom("a", "b", "c", "__proto__", "constructor", "toString", "hasOwnProperty");
    const about = fc.record({ roles: fc.uniqueArray(fc.constantFrom("org-admin", "org-member")) });
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(aliases, about), { selector: ([alias]) => alias, minLength: 2 }), (each) => {
        const inside = each.map(([alias, said]) => `${JSON.stringify(alias)}:${JSON.stringify(said)}`).join(",");
        const caller = callerWith(`{"organization":{${inside}},"roles":["org-admin","org-member"]}`);
        assert.equal(caller.organisations.size, each.length);
        for (const [alias, said] of each) assert.deepEqual([...(caller.organisations.get(alias) ?? [])], said.roles);
        assert.equal(caller.uncounted.length, 2);
      }),
    );
  });

  test("in great number are read in a moment, and answered in few words", () => {
    const many = Array.from({ length: 10_000 }, (_, n) => `organisation-${n}`);
    const began = performance.now();
    const caller = callerWith({ organization: many, vendor: many, roles: many.map(() => "org-admin") });
    assert.ok(performance.now() - began < 1_000, `${performance.now() - began} ms`);
    assert.deepEqual(caller.uncounted, [because.several("org-admin", 10_000)]);
    assert.equal(holds(caller, "org-admin"), false);
  });
});
