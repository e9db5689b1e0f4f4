import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { signIn, startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { importJWK, SignJWT } from "jose";
import {
  audience,
  createKey,
  issuerName,
  type SigningKey,
  seconds,
  signToken,
  startIssuer,
  startVerifier,
  validClaims,
} from "./issuer.test-support.ts";
import { TokenRefusedError, type TokenVerifier } from "./token-verifier.ts";

const reasons = {
  algorithm: "It must be signed with one of RS256, PS256, ES256, EdDSA.",
  signature: "Its signature doesn't verify.",
  unpublished: "It is signed with a key that its issuer doesn't publish.",
  whichKey: "It doesn't name the key that signed it, and its issuer has several.",
  noJwt: "It is not a signed JWT.",
  noAccessToken: "It is not an access token.",
  noSubject: "It has no issuer or no subject.",
  expired: "It has expired.",
  early: "It is not valid yet.",
  issuer: "Its issuer is not trusted.",
  audience: "It is for another audience.",
};

let rsa: SigningKey;
let ec: SigningKey;
let ed: SigningKey;
let tokens: TokenVerifier;

const refused = async (token: string | Promise<string>, message: string): Promise<void> => {
  await assert.rejects(tokens.verify(await token), { name: "TokenRefusedError", message });
};
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a token", () => {
  const cleanUp = cleanUpAfter();
  before(async () => {
    [rsa, ec, ed] = [await createKey("rsa", "RS256"), await createKey("ec", "ES256"), await createKey("ed", "EdDSA")];
    const issuer = await startIssuer(cleanUp, rsa, await createKey("rsa-too", "RS256"), ec, ed);
    tokens = startVerifier(cleanUp, issuer.jwksUrl).tokens;
  });

  describe("is signed", () => {
    for (const alg of ["RS256", "PS256", "ES256", "EdDSA"]) {
      test(`with ${alg}`, async () => {
        const key = { ES256: ec, EdDSA: ed }[alg] ?? rsa;
        const caller = await tokens.verify(await signToken(key, { roles: ["operator"] }, { alg }));
        assert.deepEqual([caller.issuer, caller.subject, [...caller.roles]], [issuerName, "somebody", ["operator"]]);
      });
    }

    for (const alg of ["RS384", "RS512", "PS384"]) {
      test(`not with ${alg}, by the same key`, () => refused(signToken(rsa, {}, { alg }), reasons.algorithm));
    }

    test("not with the public key as an HMAC secret", async () => {
      const { kid, publicKey, jwk } = rsa;
      const pem = publicKey.export({ type: "spki", format: "pem" });
      const der = publicKey.export({ type: "spki", format: "der" });
      for (const secret of [pem, String(pem).trim(), der, JSON.stringify(jwk), String(jwk.n)]) {
        const forged = new SignJWT(validClaims()).setProtectedHeader({ alg: "HS256", kid });
        await refused(forged.sign(Buffer.from(secret)), reasons.algorithm);
      }
    });

    test("and never unsigned", async () => {
      const signature = (await signToken(rsa)).split(".")[2];
      for (const alg of ["none", "None", "NONE", "nOnE"]) {
        for (const end of ["", signature]) {
          await refused(`${encoded({ alg, kid: "rsa" })}.${encoded(validClaims())}.${end}`, reasons.algorithm);
        }
      }
      await refused(`${encoded({ kid: "rsa" })}.${encoded(validClaims())}.${signature}`, reasons.noJwt);
    });

    test("over its own claims and header", async () => {
      const [header = "", payload = "", signature = ""] = (await signToken(ec)).split(".");
      await refused(`${header}.${encoded({ ...validClaims(), sub: "another" })}.${signature}`, reasons.signature);
      await refused(`${encoded({ alg: "ES256", kid: "ec", typ: "JWT" })}.${payload}.${signature}`, reasons.signature);
      await refused(`${header}.${payload}.${(await signToken(ec)).split(".")[2]?.toLowerCase()}`, reasons.signature);
    });

    test("with every character of the signature checked", async () => {
      const token = await signToken(ec);
      for (let length = 0; length < token.length; length += 1) {
        await assert.rejects(tokens.verify(token.slice(0, length)), TokenRefusedError, `${length} characters`);
      }
    });

    test("by the published key that it names", async () => {
      await refused(signToken(rsa, {}, { kid: "rsa-too" }), reasons.signature);
      await refused(signToken(rsa, {}, { kid: "invented" }), reasons.unpublished);
      await refused(signToken(rsa, {}, { kid: "ec" }), reasons.unpublished);
      for (const kid of [1, null, {}, ["rsa"]]) await refused(signToken(rsa, {}, { kid }), reasons.unpublished);
    });

    test("never by a key embedded in the token", async () => {
      const own = await createKey("rsa", "RS256");
      await refused(signToken(own, {}, { jwk: own.jwk, jku: "https://issuer.example/keys" }), reasons.signature);
    });

    test("by a key without a kid if only one key matches", async () => {
      await tokens.verify(await signToken(ec, {}, { kid: undefined }));
      await refused(signToken(rsa, {}, { kid: undefined }), reasons.whichKey);
    });

    for (const garbage of [
      "",
      ".",
      "..",
      "...",
      "a.b.c",
      "e30.e30.e30",
      `${"a".repeat(9_000)}.b.c`,
      "{}",
      "null.null.null",
    ]) {
      test(`and is not ${JSON.stringify(garbage).slice(0, 20)}`, () => refused(garbage, reasons.noJwt));
    }

    test("without unknown critical header parameters", async () => {
      for (const extension of [{ crit: ["exp"], exp: 1 }, { crit: [] }]) {
        const header = encoded({ alg: "ES256", kid: "ec", ...extension });
        await refused(`${header}.${encoded(validClaims())}.AAAA`, reasons.noJwt);
      }
    });
  });

  describe("says", () => {
    for (const claim of ["iss", "aud", "exp", "sub"]) {
      test(`${claim}, or is refused`, () =>
        refused(signToken(ec, { [claim]: undefined }), `It lacks the claim ${claim}.`));
    }

    for (const iss of ["https://issuer.example/", "https://ISSUER.example", "", null, 1, ["https://issuer.example"]]) {
      test(`the exact issuer, not ${JSON.stringify(iss)}`, () => refused(signToken(ec, { iss }), reasons.issuer));
    }

    test("its audience, possibly among others", async () => {
      await tokens.verify(await signToken(ec, { aud: ["ehr", audience] }));
      for (const aud of [
        "ehr",
        "Marketplace",
        "marketplace ehr",
        "",
        [],
        ["ehr"],
        [[audience]],
        { audience },
        null,
        1,
      ]) {
        await refused(signToken(ec, { aud }), reasons.audience);
      }
    });

    for (const sub of ["", null, 7, {}, ["somebody"], true]) {
      test(`its subject, not ${JSON.stringify(sub)}`, () => refused(signToken(ec, { sub }), reasons.noSubject));
    }

    test("when it expires, with 30 seconds of tolerance", async (t) => {
      t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
      await tokens.verify(await signToken(ec, { exp: seconds() - 29 }));
      await refused(signToken(ec, { exp: seconds() - 30 }), reasons.expired);
      await refused(signToken(ec, { exp: seconds() - 31 }), reasons.expired);
      for (const exp of [String(seconds() + 300), null])
        await refused(signToken(ec, { exp }), "Its claim exp is not valid.");
    });

    test("optionally when it becomes valid, with 30 seconds of tolerance", async (t) => {
      t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
      for (const nbf of [seconds() - 10, seconds() + 29, seconds() + 30])
        await tokens.verify(await signToken(ec, { nbf }));
      await refused(signToken(ec, { nbf: seconds() + 31 }), reasons.early);
      await refused(signToken(ec, { nbf: "soon" }), "Its claim nbf is not valid.");
    });
  });

  describe("is an access token", () => {
    for (const typ of [undefined, "JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt"]) {
      test(`of the type ${typ}`, async () => {
        await tokens.verify(await signToken(ec, {}, { typ }));
      });
    }

    for (const typ of ["id+jwt", "logout+jwt", "dpop+jwt", "secevent+jwt", "JOSE", "", null, 1, {}]) {
      test(`not of the type ${JSON.stringify(typ)}`, () => refused(signToken(ec, {}, { typ }), reasons.noAccessToken));
    }

    test("as Keycloak marks one", async () => {
      for (const typ of ["Bearer", "bearer"]) await tokens.verify(await signToken(ec, { typ }));
      for (const typ of ["ID", "Refresh", "Offline", "Logout", ""]) {
        await refused(signToken(ec, { typ }), reasons.noAccessToken);
      }
    });

    for (const claim of ["at_hash", "c_hash", "s_hash"]) {
      test(`without ${claim}, which only ID tokens have`, () =>
        refused(signToken(ec, { [claim]: "" }), reasons.noAccessToken));
    }
  });
});

test("accepts the access token of a real provider, and neither its ID token nor its refresh token", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const provider = await startIdentityProvider({ port: 0 });
  cleanUp(() => provider.stop());
  const trusting = startVerifier(cleanUp, provider.jwksUrl, provider.issuer).tokens;
  const { accessToken, idToken, refreshToken } = await signIn(provider.issuer, "two-practices");
  for (const token of [accessToken, await provider.accessToken("two-practices")]) {
    const { subject, organisations } = await trusting.verify(token);
    assert.equal(subject, "two-practices");
    assert.deepEqual([...(organisations.get("riverside-clinic") ?? [])], ["org-admin"]);
    assert.deepEqual([...(organisations.get("hilltop-family-practice") ?? [])], ["org-member"]);
  }
  await assert.rejects(trusting.verify(idToken), { name: "TokenRefusedError", message: reasons.audience });
  await assert.rejects(trusting.verify(refreshToken), { name: "TokenRefusedError", message: reasons.noJwt });

  const [key = {}] = provider.keys;
  const claims = { ...validClaims(), iss: provider.issuer, at_hash: "77QmUPtjPfzWtF2AnpK9RQ" };
  const forged = new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: String(key.kid), typ: "JWT" });
  const idTokenForUs = await forged.sign(await importJWK(key, "RS256"));
  await assert.rejects(trusting.verify(idTokenForUs), { name: "TokenRefusedError", message: reasons.noAccessToken });
});
