import assert from "node:assert/strict";
import { test } from "node:test";
import { describeAccess, type ScopeGroup } from "./describe-scopes.ts";

const textsOf = (scopes: string) => {
  const { reads, writes, others } = describeAccess(scopes, {});
  const toTexts = (groups: ScopeGroup[]): string[] =>
    groups.flatMap((group) => group.scopes.map(({ text }) => `${text} ${group.subject}`));
  return {
    reads: toTexts(reads),
    writes: toTexts(writes),
    others: others.map(({ text }) => text),
  };
};

test("scopes are grouped by what they allow, in plain words", () => {
  assert.deepEqual(textsOf("launch openid patient/AllergyIntolerance.rs user/Task.crus system/Patient.read"), {
    reads: [
      "Allergies of the patient whose chart is open",
      "Tasks that the signed-in user may see",
      "Names, dates of birth and contact details of all patients of the practice, in the background",
    ],
    writes: ["Creates and changes tasks that the signed-in user may see"],
    others: [
      "Opens from the EHR, with the patient and the visit that are open",
      "Signs in with the user's EHR account",
    ],
  });
});

test("scopes for the same records are one group", () => {
  const { reads } = describeAccess("patient/Task.rs user/Task.rs patient/Condition.rs", {});
  assert.deepEqual(
    reads.map(({ scopes }) => scopes.map(({ scope }) => scope)),
    [["patient/Task.rs", "patient/Condition.rs"], ["user/Task.rs"]],
  );
});

test("all access to everything is named as such", () => {
  assert.deepEqual(textsOf("patient/*.*").writes, [
    "Creates, changes, and deletes everything in the record of the patient whose chart is open",
  ]);
});

test("a restriction says what it is restricted to", () => {
  const scope = "patient/Observation.rs?category=http://terminology.hl7.org/CodeSystem/observation-category|laboratory";
  assert.deepEqual(textsOf(scope).reads, [
    "Measurements and results (only category laboratory) of the patient whose chart is open",
  ]);
});

test("an unknown resource type and text that is no scope are shown", () => {
  assert.deepEqual(textsOf("user/NewResource.rs something/else"), {
    reads: ["New resource records that the signed-in user may see"],
    writes: [],
    others: ["Other access: something/else"],
  });
});

test("the vendor's purpose is that of the scope itself", () => {
  const { reads, others } = describeAccess("patient/Task.rs toString", { "patient/Task.rs": "Shows what is open." });
  assert.deepEqual([reads[0]?.scopes[0]?.purpose, others[0]?.purpose], ["Shows what is open.", undefined]);
});
