import assert from "node:assert/strict";
import { test } from "node:test";
import { describeAccess } from "./describe-scopes.ts";

const textsOf = (scopes: string) => {
  const { reads, writes, others } = describeAccess(scopes, {});
  return {
    reads: reads.map(({ text }) => text),
    writes: writes.map(({ text }) => text),
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
    others: ["Opens from the EHR, with the patient and the visit that are open", "Knows who is signed in"],
  });
});

test("all access to everything is named as such", () => {
  assert.deepEqual(textsOf("patient/*.*").writes, [
    "Creates, changes, and deletes everything in the record of the patient whose chart is open",
  ]);
});

test("a restriction says what it is restricted to", () => {
  const scope = "patient/Observation.rs?category=http://terminology.hl7.org/CodeSystem/observation-category|laboratory";
  assert.deepEqual(textsOf(scope).reads, [
    "Measurements and results of the patient whose chart is open (only category laboratory)",
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
  assert.deepEqual([reads[0]?.purpose, others[0]?.purpose], ["Shows what is open.", undefined]);
});
