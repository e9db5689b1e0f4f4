import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { isPersona, type Persona, personaNames } from "./personas.ts";
import { type IdentityProvider, startIdentityProvider } from "./start-identity-provider.ts";

const expectedClaims: Record<Persona, object> = {
  operator: { roles: ["operator"] },
  billing: { roles: ["billing"] },
  auditor: { roles: ["auditor"] },
  "riverside-admin": { organization: { "riverside-clinic": { roles: ["org-admin"] } } },
  "riverside-member": { organization: { "riverside-clinic": { roles: ["org-member"] } } },
  "hilltop-admin": { organization: ["hilltop-family-practice"], roles: ["org-admin"] },
  "two-practices": {
    organization: {
      "riverside-clinic": { roles: ["org-admin"] },
      "hilltop-family-practice": { roles: ["org-member"] },
    },
  },
  "northwind-developer": { vendor: "northwind-health", roles: ["vendor-developer"] },
  "lumen-developer": { vendor: ["lumen-medical"], roles: ["vendor-developer"] },
  "juniper-developer": { vendor: "juniper-labs", roles: ["vendor-developer"] },
  "juniper-tester": { organization: { "juniper-sandbox": { roles: ["org-admin"] } } },
  "ehr-service": {
    roles: ["ehr-service"],
    organization: [
      "riverside-clinic",
      "hilltop-family-practice",
      "lakeside-clinic",
      "northwind-sandbox",
      "juniper-sandbox",
    ],
  },
  "launch-redeemer": { roles: ["launch-redeemer"] },
};

describe("a client-credentials token", () => {
  let idp: IdentityProvider;
  before(async () => {
    idp = await startIdentityProvider({ port: 0 });
  });
  after(() => idp.stop());

  for (const persona of personaNames) {
    test(`of ${persona} has the claims of ${persona}, and no others`, async () => {
      const token = await idp.accessToken(persona);
      const { payload, protectedHeader } = await jwtVerify(token, createRemoteJWKSet(new URL(idp.jwksUrl)), {
        issuer: idp.issuer,
        typ: "at+jwt",
        algorithms: ["RS256"],
      });
      assert.equal(protectedHeader.kid, idp.keys[0]?.kid);
      const { iat = 0, exp = 0, jti, ...claims } = payload;
      assert.equal(exp - iat, 3600);
      assert.equal(typeof jti, "string");
      assert.deepEqual(claims, {
        iss: idp.issuer,
        sub: persona,
        client_id: persona,
        aud: ["marketplace", "ehr"],
        ...expectedClaims[persona],
      });
    });
  }
});

test("recognises personas only", () => {
  assert.ok(isPersona("operator"));
  for (const name of ["", "nobody", "marketplace-console", "toString", "__proto__"]) assert.ok(!isPersona(name), name);
});
