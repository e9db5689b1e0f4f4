import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/tests/support";
import { exportJWK, type JWK, type JWTHeaderParameters, SignJWT } from "jose";
import { createLogger } from "../telemetry/logger.ts";
import { createTokens, TokenRefusedError, type Tokens } from "./verify-token.ts";

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

/** Published without `alg`, so that an RSA key is good for every algorithm of its family. */
export async function newKey(kid: string, alg: keyof typeof pairs = "ES256"): Promise<SigningKey> {
  const { privateKey, publicKey } = pairs[alg]();
  return { kid, alg, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid } };
}

export const issuerName = "https://issuer.example";
export const audience = "marketplace";

/** Seconds since 1970, as tokens count. */
export const seconds = (): number => Math.floor(Date.now() / 1_000);

export const rightClaims = (): Record<string, unknown> => ({
  iss: issuerName,
  aud: audience,
  sub: "somebody",
  exp: seconds() + 300,
});

/** A claim or header parameter that is given as undefined is left out. */
export function signed(
  key: SigningKey,
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const complete = JSON.parse(JSON.stringify({ alg: key.alg, kid: key.kid, ...header })) as JWTHeaderParameters;
  const payload = JSON.parse(JSON.stringify({ ...rightClaims(), ...claims })) as Record<string, unknown>;
  return new SignJWT(payload).setProtectedHeader(complete).sign(key.privateKey);
}

export interface TestIssuer {
  jwksUrl: string;
  /** How often it was asked. */
  asked: number;
  publish(...keys: SigningKey[]): void;
  answerWith(listener: RequestListener): void;
  leave(): Promise<void>;
  /** On the same port. */
  comeBack(): Promise<void>;
}

/** An issuer as far as a service sees one: a set of keys behind a URL. */
export async function startIssuer(after: After, ...keys: SigningKey[]): Promise<TestIssuer> {
  let listener: RequestListener;
  let port = 0;
  const server = createServer((request, response) => {
    issuer.asked += 1;
    // Whoever kept its connection would not notice that the issuer left.
    response.setHeader("connection", "close");
    listener(request, response);
  });
  const issuer: TestIssuer = {
    jwksUrl: "",
    asked: 0,
    publish(...published) {
      listener = (_request, response) => response.end(JSON.stringify({ keys: published.map(({ jwk }) => jwk) }));
    },
    answerWith(given) {
      listener = given;
    },
    async leave() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
    async comeBack() {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      port = (server.address() as AddressInfo).port;
      issuer.jwksUrl = `http://127.0.0.1:${port}/keys`;
    },
  };
  issuer.publish(...keys);
  await issuer.comeBack();
  after(() => issuer.leave());
  return issuer;
}

/** Verifies tokens of that issuer; `warnings` are the lines that it has logged. */
export function startVerifier(
  after: After,
  jwksUrl: string,
  issuer = issuerName,
): { tokens: Tokens; warnings: string[] } {
  const warnings: string[] = [];
  const logger = createLogger({ service: "test", level: "warn" }, { write: (line) => warnings.push(line) });
  const claims = { organisation: "organization", vendor: "vendor", roles: "roles" };
  const tokens = createTokens({ issuer, audience, jwksUrl, claims, logger });
  after(async () => tokens.stop());
  return { tokens, warnings };
}

export async function isRefused(tokens: Tokens, key: SigningKey): Promise<boolean> {
  const token = await signed(key);
  return tokens.verify(token).then(
    () => false,
    (error: unknown) => error instanceof TokenRefusedError,
  );
}

/** A verifier that has the issuer's keys, in a time that passes only where the test says so. */
export async function startedWith(t: TestContext, key: SigningKey) {
  t.mock.timers.enable({ apis: ["setInterval", "Date"], now: Date.now() });
  const cleanUp = cleanUpAfter(t);
  const issuer = await startIssuer(cleanUp, key);
  const verifying = startVerifier(cleanUp, issuer.jwksUrl);
  await verifying.tokens.verify(await signed(key));
  return { issuer, ...verifying };
}
