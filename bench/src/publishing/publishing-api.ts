import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { drawPng, type Publisher, publishWith } from "@ehr-marketplace/test-kit/publisher";
import { importJWK, SignJWT } from "jose";
import { startApi } from "../servers.ts";

/** The marketplace's API with vendors that are registered as needed: each may submit 50 revisions a day. */
export async function startPublishingApi(databaseUrl: string, issuer: IdentityProvider, mediaDirectory: string) {
  const api = await startApi(databaseUrl, {
    TOKEN_ISSUER: issuer.issuer,
    TOKEN_JWKS_URL: issuer.jwksUrl,
    MEDIA_DIRECTORY: mediaDirectory,
  });
  const [key] = issuer.keys;
  if (key === undefined) throw new Error("the identity provider has no key");
  const signingKey = await importJWK(key, "RS256");
  const tokenOf = (vendor: string): Promise<string> =>
    new SignJWT({ vendor, roles: ["vendor-developer"] })
      .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid: key.kid ?? "" })
      .setIssuer(issuer.issuer)
      .setAudience("marketplace")
      .setSubject(`developer of ${vendor}`)
      .setIssuedAt()
      .setExpirationTime("2h")
      .sign(signingKey);
  const operator = await issuer.accessToken("operator");

  const send: Publisher<string>["request"] = async (who, path, { method, body, headers } = {}) => {
    const isFile = body instanceof Uint8Array;
    return fetch(`${api.url}${path}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        authorization: `Bearer ${who === "operator" ? operator : await tokenOf(who)}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isFile ? new Uint8Array(body) : JSON.stringify(body) }),
    });
  };

  return {
    ...api,
    drawPng,
    tokenOf,
    async createVendor(vendor: string): Promise<Publisher<string>> {
      const registered = await send("operator", `/admin/vendors/${vendor}`, { method: "PUT", body: { name: vendor } });
      if (registered.status !== 201) throw new Error(`${registered.status} for the vendor ${vendor}`);
      return publishWith<string>(send, vendor);
    },
  };
}
