import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { baaOf, checkAgreement } from "./agreement.ts";

const app = {
  fhirScopes: "patient/Patient.r",
  baaRequired: true,
  baaSha256: "aa",
  baaUrl: "https://example.com/baa.pdf",
};

describe("an agreement", () => {
  test("is given by nobody who hasn't given it", () => {
    assert.deepEqual(checkAgreement({}, app), { isAgreed: false, isBaaAccepted: false, isComplete: false });
    const free = { fhirScopes: "", baaRequired: false, baaSha256: null, baaUrl: null };
    assert.equal(checkAgreement({}, free).isComplete, false);
  });

  test("counts for the scopes that were shown, and for no others", () => {
    const given = { scopes: app.fhirScopes, baa: baaOf(app) };
    assert.equal(checkAgreement(given, app).isComplete, true);
    for (const fhirScopes of ["patient/Patient.rs", "patient/Patient.r patient/Observation.r", ""]) {
      const after = checkAgreement(given, { ...app, fhirScopes });
      assert.deepEqual([after.isAgreed, after.isBaaAccepted, after.isComplete], [false, true, false]);
    }
  });

  test("counts for the version of the business associate agreement that was shown", () => {
    const given = { scopes: app.fhirScopes, baa: baaOf(app) };
    assert.equal(checkAgreement(given, { ...app, baaSha256: "bb" }).isComplete, false);
    const byAddress = { ...app, baaSha256: null };
    assert.equal(checkAgreement(given, byAddress).isComplete, false);
    assert.equal(checkAgreement({ ...given, baa: baaOf(byAddress) }, byAddress).isComplete, true);
  });

  test("needs none of the latter if the app doesn't", () => {
    assert.equal(checkAgreement({ scopes: app.fhirScopes }, { ...app, baaRequired: false }).isComplete, true);
  });
});
