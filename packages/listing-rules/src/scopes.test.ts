import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findAddedScopes, normaliseScopes, parseScope } from "./scopes.ts";

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

test("scopes that mean the same are normalised to the same text", () => {
  const normal = "openid patient/A.rs user/B.cud";
  for (const scopes of ["user/B.write openid patient/A.read", " patient/A.rs  patient/A.read user/B.cud openid "]) {
    assert.equal(normaliseScopes(scopes), normal);
  }
  assert.deepEqual(findAddedScopes(normal, "user/B.write openid patient/A.read"), []);
});

test("the longest text of scopes is read within milliseconds, whatever it is", () => {
  for (const unit of ["a ", "patient/A.rs?x=1&", "patient/", "c", "patient/A.rs?a=b&a=b&a=b ", "launch/"]) {
    const text = unit.repeat(Math.floor(10_000 / unit.length));
    const began = process.threadCpuUsage();
    findAddedScopes(text, `${text} b`);
    normaliseScopes(text);
    const { user, system } = process.threadCpuUsage(began);
    assert.ok((user + system) / 1_000 < 100, unit);
  }
});
