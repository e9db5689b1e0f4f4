import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createResolver } from "@ehr-marketplace/outbound-http";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from "jose";
import { Provider } from "oidc-provider";
import { createConfiguration, grantLifetimeMs } from "./configuration.ts";
import { addLoginRoutes } from "./login-routes.ts";
import type { Persona } from "./personas.ts";
import { addRegisteredScope } from "./registration.ts";
import { requestAccessToken } from "./request-access-token.ts";
import { AppClients } from "./smart/app-clients.ts";
import { SmartApps } from "./smart/smart-apps.ts";
import { addFhirRoutes } from "./smart/smart-configuration.ts";
import { SmartLaunches } from "./smart/smart-launches.ts";

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
  /** The EHR that launches apps, and knows which are in use. Without one, vendors' apps get no tokens. */
  ehrUrl?: string;
  /** Where registered clients are kept, so that an EHR's clients outlive the process. */
  clientsFile?: string;
  /** The beginning of URLs that are client identifiers, for example `https://marketplace.example/api/v1/apps/`. */
  metadataDocuments?: string;
  /** The web service, which is told who signs out. */
  webUrl?: string;
  /** The time that the EHR's responses are cached by, in milliseconds. */
  now?: () => number;
}

/** Starts the identity provider. To rotate keys, stop it and start another on the same port. */
export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const keys = options.keys ?? [await createSigningKey()];
  const server = createServer().listen(options.port, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const { ehrUrl = "", clientsFile, metadataDocuments, webUrl, now = () => performance.now() } = options;
  const getToken = (): Promise<string> => requestAccessToken(issuer, "launch-redeemer");
  const apps = new SmartApps(issuer, new AppClients({ ehrUrl, getToken, now }));
  const launches = new SmartLaunches(apps, { ehrUrl, getToken, grantLifetimeMs });
  const resolver = createResolver();
  const parts = { keys, apps, launches, resolve: resolver.resolve, clientsFile, metadataDocuments, webUrl };
  const provider = new Provider(issuer, createConfiguration(parts));
  provider.on("server_error", (_context, error) => console.error(error));
  addLoginRoutes(provider);
  addFhirRoutes(provider);
  addRegisteredScope(provider);
  apps.addOfflineAccess(provider);
  launches.addToTokenAnswers(provider);
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
      resolver.close();
    },
  };
}
