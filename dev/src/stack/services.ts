import { readConfig as readEhrConfig } from "@ehr-marketplace/ehr/config";
import { readConfig as readMarketplaceConfig } from "@ehr-marketplace/marketplace/config";
import { readWorkerConfig } from "@ehr-marketplace/marketplace/worker-config";
import { readConfig as readWebConfig } from "@ehr-marketplace/web/config";
import { developmentSecret, registrationToken } from "../identity-provider/clients.ts";
import { fhirBaseUrl } from "../identity-provider/index.ts";
import {
  ehrEnvironment,
  loopbackNetworks,
  marketplaceEnvironment,
  type TokenIssuer,
  webEnvironment,
} from "../service-environments.ts";
import type { Ports } from "./ports.ts";
import type { ServiceOptions } from "./service-process.ts";

export interface StackContext {
  ports: Ports;
  databases: Record<"marketplace" | "ehr" | "web", { serviceUrl: string }>;
  identityProvider: TokenIssuer;
  mediaDirectory: string;
}

const services = new URL("../../../services/", import.meta.url).pathname;
const local = {
  NODE_ENV: "development",
  HOST: "127.0.0.1",
  VENDOR_ALLOWED_NETWORKS: loopbackNetworks.join(),
  // The stack prints where everything is. A line for each request would push that, and warnings, off the screen.
  LOG_LEVEL: process.env["LOG_LEVEL"] || "warn",
};

/** The usual ports of front ends under development, such as Vite's 5173. */
const frontEndPorts = [3000, 4200, 5173, 8000];
const frontEndOrigins = frontEndPorts.flatMap((port) => [`http://localhost:${port}`, urlOf(port)]);

/** Origins whose pages may call the APIs with a token; `ALLOWED_ORIGINS` replaces the usual ones. */
const readAllowedOrigins = (): string => process.env["ALLOWED_ORIGINS"] || frontEndOrigins.join();

export function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** Where browsers reach the marketplace, such as through a tunnel. */
export const readPublicUrl = (port: number): string => process.env["PUBLIC_URL"] || urlOf(port);

/** Where clients are registered: at the identity provider of the stack, or at another authorization server, such as a Keycloak. */
function readRegistration(issuer: string): Record<string, string> {
  const { CLIENT_REGISTRATION_URL: url, CLIENT_REGISTRATION_TOKEN: token } = process.env;
  return url
    ? { CLIENT_REGISTRATION_URL: url, CLIENT_REGISTRATION_TOKEN: token ?? "" }
    : { CLIENT_REGISTRATION_URL: `${issuer}/reg`, CLIENT_REGISTRATION_TOKEN: registrationToken };
}

export function marketplaceService({ ports, databases, ...given }: StackContext): ServiceOptions {
  return {
    name: "marketplace",
    entry: `${services}marketplace/src/api.ts`,
    readyUrl: `${urlOf(ports.marketplace)}/health/ready`,
    environment: {
      ...marketplaceEnvironment(databases.marketplace.serviceUrl, given.identityProvider),
      ...local,
      ALLOWED_ORIGINS: readAllowedOrigins(),
      MARKETPLACE_PORT: String(ports.marketplace),
      PUBLIC_URL: readPublicUrl(ports.marketplace),
      MEDIA_DIRECTORY: given.mediaDirectory,
    },
  };
}

export function workerService({ ports, databases, identityProvider, mediaDirectory }: StackContext): ServiceOptions {
  return {
    name: "worker",
    entry: `${services}marketplace/src/worker.ts`,
    readyUrl: `${urlOf(ports.workerHealth)}/health/ready`,
    environment: {
      ...marketplaceEnvironment(databases.marketplace.serviceUrl, identityProvider),
      ...local,
      WORKER_PORT: String(ports.workerHealth),
      WEB_URL: urlOf(ports.web),
      PUBLIC_URL: readPublicUrl(ports.marketplace),
      MEDIA_DIRECTORY: mediaDirectory,
    },
  };
}

export function ehrService({ ports, databases, identityProvider }: StackContext): ServiceOptions {
  const { issuer } = identityProvider;
  const urls = { marketplaceUrl: urlOf(ports.marketplace), fhirBaseUrl: fhirBaseUrl(issuer, "{orgAlias}") };
  return {
    name: "ehr",
    entry: `${services}ehr/src/api.ts`,
    readyUrl: `${urlOf(ports.ehr)}/health/ready`,
    environment: {
      ...ehrEnvironment(databases.ehr.serviceUrl, urls, identityProvider),
      ...local,
      ALLOWED_ORIGINS: readAllowedOrigins(),
      EHR_PORT: String(ports.ehr),
      MARKETPLACE_TOKEN_URL: `${issuer}/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: developmentSecret,
      CLIENT_REGISTRATION: "dcr",
      ...readRegistration(issuer),
    },
  };
}

export function webService({ ports, databases, identityProvider }: StackContext): ServiceOptions {
  const urls = {
    publicUrl: urlOf(ports.web),
    marketplaceUrl: urlOf(ports.marketplace),
    ehrUrl: urlOf(ports.ehr),
  };
  return {
    name: "web",
    entry: `${services}web/src/web.ts`,
    readyUrl: `${urls.publicUrl}/health/ready`,
    environment: {
      ...webEnvironment(databases.web.serviceUrl, urls, identityProvider),
      ...local,
      MEDIA_ORIGIN: new URL(readPublicUrl(ports.marketplace)).origin,
      VENDORS_URL: new URL("/docs#tag/listings", readPublicUrl(ports.marketplace)).href,
      WEB_PORT: String(ports.web),
    },
  };
}

/**
 * Throws if a service couldn't use a variable of this process's environment, before anything is started. What the stack itself sets
 * later, such as the databases, is replaced by valid values.
 */
export function checkEnvironments(ports: Ports): void {
  const database = { serviceUrl: "postgres://127.0.0.1/unused" };
  const issuer = urlOf(ports.idp);
  const context: StackContext = {
    ports,
    databases: { marketplace: database, ehr: database, web: database },
    identityProvider: { issuer, jwksUrl: `${issuer}/jwks` },
    mediaDirectory: "unused",
  };
  readMarketplaceConfig({ ...process.env, ...marketplaceService(context).environment });
  readWorkerConfig({ ...process.env, ...workerService(context).environment });
  readEhrConfig({ ...process.env, ...ehrService(context).environment });
  readWebConfig({ ...process.env, ...webService(context).environment });
}
