import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from "jose";
import { Provider } from "oidc-provider";
import { createConfiguration } from "./configuration.ts";
import { addLoginRoutes } from "./login-routes.ts";
import type { Persona } from "./personas.ts";
import { requestAccessToken } from "./request-access-token.ts";
import { addFhirRoutes } from "./smart/smart-configuration.ts";
import { SmartLaunches, type SmartOptions } from "./smart/smart-launches.ts";

export interface IdentityProvider {
  issuer: string;
  jwksUrl: string;
  /** The private signing keys, so that tests can forge tokens. */
  keys: JWK[];
  accessToken(persona: Persona): Promise<string>;
  stop(): Promise<void>;
}

async function createSigningKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { modulusLength: 2048, extractable: true });
  const key = await exportJWK(privateKey);
  return { ...key, kid: await calculateJwkThumbprint(key), alg: "RS256", use: "sig" };
}

export interface IdentityProviderOptions {
  /** 0: any free port. */
  port: number;
  keys?: JWK[];
  /** The SMART apps, and the EHR that launches them. */
  smart?: SmartOptions;
}

/** Starts the identity provider. To rotate keys, stop it and start another on the same port. */
export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const keys = options.keys ?? [await createSigningKey()];
  const server = createServer().listen(options.port, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const smart = new SmartLaunches(issuer, options.smart ?? { ehrUrl: "", apps: [] });
  const provider = new Provider(issuer, createConfiguration(keys, smart));
  provider.on("server_error", (_context, error) => console.error(error));
  addLoginRoutes(provider);
  addFhirRoutes(provider, smart.apps);
  smart.addToTokenAnswers(provider);
  const handleRequest = provider.callback();
  server.on("request", (request, response) => {
    // Otherwise a client could send its next request on a connection to a provider that has stopped.
    response.setHeader("connection", "close");
    void handleRequest(request, response);
  });

  return {
    issuer,
    jwksUrl: `${issuer}/jwks`,
    keys,
    accessToken: (persona) => requestAccessToken(issuer, persona),
    async stop() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
