import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { exportJWK, type JWK, type JWTHeaderParameters, SignJWT } from "jose";
import { createLogger } from "../telemetry/logger.ts";
import { createTokenVerifier, TokenRefusedError, type TokenVerifier } from "./token-verifier.ts";

type After = (stop: () => Promise<unknown>) => void;

export interface SigningKey {
  kid: string;
  alg: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  jwk: JWK;
}

const pairs = {
  RS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  EdDSA: () => generateKeyPairSync("ed25519"),
};

/** The key is published without `alg`, so that an RSA key can be used with every RSA algorithm. */
export async function createKey(kid: string, alg: keyof typeof pairs = "ES256"): Promise<SigningKey> {
  const { privateKey, publicKey } = pairs[alg]();
  return { kid, alg, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid } };
}

export const issuerName = "https://issuer.example";
export const audience = "marketplace";

/** The current time in seconds since 1970, the unit of claims. */
export const seconds = (): number => Math.floor(Date.now() / 1_000);

export const validClaims = (): Record<string, unknown> => ({
  iss: issuerName,
  aud: audience,
  sub: "somebody",
  exp: seconds() + 300,
});

/** Claims and header parameters that are undefined are omitted. */
export function signToken(
  key: SigningKey,
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const complete = JSON.parse(JSON.stringify({ alg: key.alg, kid: key.kid, ...header })) as JWTHeaderParameters;
  const payload = JSON.parse(JSON.stringify({ ...validClaims(), ...claims })) as Record<string, unknown>;
  return new SignJWT(payload).setProtectedHeader(complete).sign(key.privateKey);
}

export interface TestIssuer {
  jwksUrl: string;
  /** The number of requests received. */
  requestCount: number;
  publish(...keys: SigningKey[]): void;
  respondWith(listener: RequestListener): void;
  stop(): Promise<void>;
  /** Starts again on the same port. */
  start(): Promise<void>;
}

/** Starts an issuer that serves a key set. */
export async function startIssuer(after: After, ...keys: SigningKey[]): Promise<TestIssuer> {
  let listener: RequestListener;
  let port = 0;
  const server = createServer((request, response) => {
    issuer.requestCount += 1;
    // A client with an open connection would not notice that the issuer has stopped.
    response.setHeader("connection", "close");
    listener(request, response);
  });
  const issuer: TestIssuer = {
    jwksUrl: "",
    requestCount: 0,
    publish(...published) {
      listener = (_request, response) => response.end(JSON.stringify({ keys: published.map(({ jwk }) => jwk) }));
    },
    respondWith(given) {
      listener = given;
    },
    async stop() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
    async start() {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      port = (server.address() as AddressInfo).port;
      issuer.jwksUrl = `http://127.0.0.1:${port}/keys`;
    },
  };
  issuer.publish(...keys);
  await issuer.start();
  after(() => issuer.stop());
  return issuer;
}

/** Creates a verifier for that issuer; `warnings` are the logged lines. */
export function startVerifier(
  after: After,
  jwksUrl: string,
  issuer = issuerName,
): { tokens: TokenVerifier; warnings: string[] } {
  const warnings: string[] = [];
  const logger = createLogger({ service: "test", level: "warn" }, { write: (line) => warnings.push(line) });
  const claims = { organisation: "organization", vendor: "vendor", roles: "roles" };
  const tokens = createTokenVerifier({ issuer, audience, jwksUrl, claims, logger });
  after(async () => tokens.stop());
  return { tokens, warnings };
}

export async function isRefused(tokens: TokenVerifier, key: SigningKey): Promise<boolean> {
  const token = await signToken(key);
  return tokens.verify(token).then(
    () => false,
    (error: unknown) => error instanceof TokenRefusedError,
  );
}

/** Creates a verifier that has fetched the issuer's keys, with mocked timers. */
export async function startVerifierWithKeys(t: TestContext, key: SigningKey) {
  t.mock.timers.enable({ apis: ["setInterval", "Date"], now: Date.now() });
  const cleanUp = cleanUpAfter(t);
  const issuer = await startIssuer(cleanUp, key);
  const verifying = startVerifier(cleanUp, issuer.jwksUrl);
  await verifying.tokens.verify(await signToken(key));
  return { issuer, ...verifying };
}
