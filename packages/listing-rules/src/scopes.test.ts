import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rounds } from "@ehr-marketplace/test-kit";
import { assertCpuTime } from "@ehr-marketplace/test-kit/cpu-time";
import fc from "fast-check";
import { findAddedScopes, intersectScopes, missingScopes, normaliseScopes, parseScope, splitScopes } from "./scopes.ts";

describe("a scope", () => {
  for (const [text, syntax, permissions] of [
    ["patient/Observation.read", "v1", "rs"],
    ["user/*.write", "v1", "cud"],
    ["user/*.*", "v1", "cruds"],
    ["patient/Observation.rs", "v2", "rs"],
    ["system/Patient.cruds", "v2", "cruds"],
    ["user/Appointment.c", "v2", "c"],
    ["patient/Observation.rs?category=laboratory", "v2", "rs"],
    [
      "patient/Observation.rs?category=http://terminology.hl7.org/CodeSystem/observation-category|laboratory",
      "v2",
      "rs",
    ],
  ] as const) {
    test(`${text} is of SMART ${syntax}`, () => {
      const scope = parseScope(text);
      assert.deepEqual([scope?.syntax, [...(scope?.permissions ?? [])].join("")], [syntax, permissions]);
    });
  }

  for (const text of ["openid", "fhirUser", "launch", "launch/patient", "offline_access", "online_access"]) {
    test(`${text} gives no access to resources`, () => assert.equal(parseScope(text), null));
  }

  for (const text of [
    "",
    "patient/Observation",
    "patient/Observation.",
    "patient/observation.read",
    "patient/Observation.sr",
    "patient/Observation.READ",
    "patient/Observation.rs?",
    "patient/Observation.rs?category",
    "patient/Observation.read?category=laboratory",
    "patient/Observation.rs?category=a\u0007",
    'patient/Observation.rs?category="a"',
    "patient/Observation.rs?category=a\\b",
    "patient/Observation.rs?category=é",
    "patients/Observation.rs",
    "patient.Observation.rs",
    "*/*.*",
    "LAUNCH",
    "launch/",
  ]) {
    test(`${JSON.stringify(text)} is none`, () => assert.equal(parseScope(text), undefined));
  }
});

describe("added scopes", () => {
  for (const [what, before, after, added] of [
    [
      "the same in another order and syntax",
      "openid patient/A.read patient/B.rs",
      "patient/B.read patient/A.rs openid",
      [],
    ],
    ["a new resource", "patient/A.rs", "patient/A.rs patient/B.rs", ["patient/B.rs"]],
    ["writing where reading was", "patient/A.read", "patient/A.*", ["patient/A.*"]],
    ["less than before", "patient/*.cruds", "patient/A.r", []],
    ["another context", "patient/A.rs", "user/A.rs", ["user/A.rs"]],
    ["everything where one was", "patient/A.rs", "patient/*.rs", ["patient/*.rs"]],
    ["two that were one", "patient/A.cruds", "patient/A.rs patient/A.cud", []],
    ["one that was two", "patient/A.rs patient/A.cud", "patient/A.cruds", []],
    ["a restriction", "patient/A.rs", "patient/A.rs?x=1", []],
    ["a lifted restriction", "patient/A.rs?x=1", "patient/A.rs", ["patient/A.rs"]],
    ["another restriction", "patient/A.rs?x=1", "patient/A.rs?x=2", ["patient/A.rs?x=2"]],
    ["restrictions in another order", "patient/A.rs?x=1&y=2", "patient/A.rs?y=2&x=1", []],
    ["a longer session", "openid", "openid offline_access", ["offline_access"]],
    ["nothing", "", "", []],
    ["all of them, from nothing", "", "a b  a", ["a", "b"]],
  ] as const) {
    test(what, () => assert.deepEqual(findAddedScopes(before, after), added));
  }
});

test("scopes that cross each other have no common part of a million scopes", () => {
  const many = (prefix: string, suffix: string): string =>
    Array.from(
      { length: 600 },
      (_, n) => `${prefix}${n.toString(26).replaceAll(/\d/g, (d) => "qrstuvwxyz"[Number(d)] ?? "")}${suffix}`,
    ).join(" ");
  const types = many("user/A", ".r");
  const queries = many("user/*.r?a=", "");
  assertCpuTime(200, () => {
    assert.equal(intersectScopes(types, queries), "");
    assert.equal(intersectScopes(queries, types), "");
    assert.equal(intersectScopes("user/*.r", types), types);
  });
});

test("scopes that mean the same are normalised to the same text", () => {
  const normal = "openid patient/A.rs user/B.cud";
  for (const scopes of ["user/B.write openid patient/A.read", " patient/A.rs  patient/A.read user/B.cud openid "]) {
    assert.equal(normaliseScopes(scopes), normal);
  }
  assert.deepEqual(findAddedScopes(normal, "user/B.write openid patient/A.read"), []);
});

describe("of the current scopes, those agreed to and those missing are", () => {
  for (const [what, current, agreed, common, missing] of [
    ["all and none of the same", "openid patient/A.rs", "patient/A.read openid", "openid patient/A.rs", []],
    ["in the syntax of the current ones", "patient/A.*", "patient/A.rs", "patient/A.read", ["patient/A.write"]],
    ["of a syntax that can say it", "patient/A.read", "patient/A.r", "patient/A.r", ["patient/A.s"]],
    ["split by permission", "patient/A.cruds", "patient/A.rs", "patient/A.rs", ["patient/A.cud"]],
    ["of two that cover one", "patient/A.cruds", "patient/A.read patient/A.write", "patient/A.cruds", []],
    ["covered by all resources", "patient/A.rs", "patient/*.cruds", "patient/A.rs", []],
    ["some of all resources", "patient/*.rs", "patient/A.rs", "patient/A.rs", ["patient/*.rs"]],
    ["of one context", "user/A.rs", "patient/A.rs", "", ["user/A.rs"]],
    ["restricted where the agreed one isn't", "patient/A.rs?x=1", "patient/A.rs", "patient/A.rs?x=1", []],
    ["restricted as agreed", "patient/A.rs", "patient/A.rs?x=1", "patient/A.rs?x=1", ["patient/A.rs"]],
    ["of another restriction", "patient/A.rs?x=1", "patient/A.rs?x=2", "", ["patient/A.rs?x=1"]],
    ["of resources that one of them names", "patient/*.rs?x=1", "patient/A.cr", "", ["patient/*.rs?x=1"]],
    ["listed once", "patient/A.rs patient/*.rs", "patient/A.rs", "patient/A.rs", ["patient/*.rs"]],
    ["compared as text if they are no scopes", "a b launch/x", "b launch/y", "b", ["a", "launch/x"]],
    ["nothing of nothing", "", "patient/A.rs", "", []],
    ["nothing of what isn't agreed to", "patient/A.rs openid", "", "", ["patient/A.rs", "openid"]],
  ] as const) {
    test(what, () => {
      assert.equal(intersectScopes(current, agreed), common);
      assert.deepEqual(missingScopes(current, agreed), missing);
    });
  }

  const scope = fc.oneof(
    fc.constantFrom("openid", "launch", "fhirUser", "no-scope"),
    fc
      .tuple(
        fc.constantFrom("patient", "user"),
        fc.constantFrom("A", "B", "*"),
        fc.constantFrom("read", "write", "*", "r", "rs", "cud", "cruds", "us"),
        fc.constantFrom("", "", "?x=1", "?x=2", "?x=1&y=2", "?y=2&x=1"),
      )
      .map(
        ([context, type, access, query]) =>
          `${context}/${type}.${access}${["read", "write", "*"].includes(access) ? "" : query}`,
      ),
  );
  const scopes = fc.array(scope, { maxLength: 6 }).map((all) => all.join(" "));
  const runs = { numRuns: rounds(2_000, 50_000) };
  const covers = (wide: string, narrow: string): boolean => findAddedScopes(wide, narrow).length === 0;

  test("never more than either, and together with the missing ones all of the current ones", () => {
    fc.assert(
      fc.property(scopes, scopes, (current, agreed) => {
        const common = intersectScopes(current, agreed);
        const missing = missingScopes(current, agreed);
        assert.ok(covers(current, common), "within current");
        assert.ok(covers(agreed, common), "within agreed");
        assert.ok(covers(current, missing.join(" ")), "missing is within current");
        assert.ok(covers(`${common} ${missing.join(" ")}`, current), "nothing is lost");
        assert.equal(missing.length === 0, covers(agreed, current));
        assert.deepEqual(missingScopes(current, common), missing);
        assert.equal(intersectScopes(common, agreed), common);
        // Every scope that both cover is covered by the result.
        for (const each of splitScopes(`${current} ${agreed}`)) {
          if (covers(current, each) && covers(agreed, each)) assert.ok(covers(common, each), each);
        }
        const reverse = intersectScopes(agreed, current);
        assert.ok(covers(reverse, common) && covers(common, reverse), "symmetric by meaning");
      }),
      runs,
    );
  });

  test("the current ones, as they are written, if those are agreed to", () => {
    fc.assert(
      fc.property(scopes, (current) => {
        assert.equal(intersectScopes(current, current), [...new Set(splitScopes(current))].join(" "));
        assert.deepEqual(missingScopes(current, current), []);
        assert.equal(intersectScopes(current, ""), "");
      }),
      runs,
    );
  });
});

test("the longest text of scopes is read within milliseconds, whatever it is", () => {
  const repeated = ["a ", "patient/A.rs?x=1&", "patient/", "c", "patient/A.rs?a=b&a=b&a=b ", "launch/"].map((unit) =>
    unit.repeat(Math.floor(10_000 / unit.length)),
  );
  const different = (prefix: string, count: number): string =>
    Array.from({ length: count }, (_, n) => `${prefix}${n.toString(36)}`).join(" ");
  for (const text of [...repeated, different("user/*.r?a=", 700), different("x", 2_000)]) {
    const read = (): void => {
      findAddedScopes(text, `${text} b`);
      normaliseScopes(text);
      missingScopes(text, text);
      intersectScopes(text, text);
    };
    assertCpuTime(100, read, text.slice(0, 20));
  }
});

test("an intersection is hardly longer than both texts, however they overlap", () => {
  const types = Array.from(
    { length: 190 },
    (_, index) => `Type${"x".repeat(34)}${String.fromCharCode(97 + (index % 26))}${"y".repeat(index % 7)}`,
  );
  const agreed = [...new Set(types)].map((type) => `patient/${type}.cruds`).join(" ");
  const current = ["c", "r", "u", "d", "s"].map((letter) => `patient/*.${letter}`).join(" ");
  assert.equal(intersectScopes(current, agreed), agreed);
});
