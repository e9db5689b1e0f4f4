import { freePort } from "@ehr-marketplace/dev/free-port";
import type { openBrowser, Persona } from "@ehr-marketplace/dev/identity-provider";
import { webEnvironment } from "@ehr-marketplace/dev/service-environments";
import { type CleanUp, cloneDatabase, getSharedPart, type ServiceDatabase } from "@ehr-marketplace/test-kit";
import type { FastifyInstance } from "fastify";
import { getSharedIssuer, type Issuer } from "./callers.ts";
import { inProcessEnvironment, startInProcess } from "./in-process.ts";

/** A browser of a user, as far as the web's routes need one: it keeps cookies and follows nothing. */
export interface WebBrowser {
  cookies: Map<string, string>;
  /** As a navigation, unless headers say otherwise. */
  open(pathOrUrl: string, request?: RequestInit): Promise<Response>;
  /** As a script of our own pages. */
  call(path: string, request?: RequestInit): Promise<Response>;
}

export interface RunningWeb {
  url: string;
  database: ServiceDatabase;
  server: FastifyInstance;
  identityProvider: Issuer;
  openBrowser(): WebBrowser;
  /** Signs a persona in, and returns the response of the callback. */
  signIn(browser: WebBrowser, persona: Persona, options?: SignInOptions): Promise<Response>;
}

export interface SignInOptions {
  returnTo?: string;
  /** Keeps the cookies of the identity provider. By default they are lost. */
  atProvider?: ReturnType<typeof openBrowser>;
  /** The provider is of another site: the browser sends no Strict cookie from there. */
  isOtherSite?: boolean;
}

export interface WebOptions {
  marketplaceUrl?: string;
  ehrUrl?: string;
  environment?: Record<string, string>;
  /** Through which the web reaches its database, if not directly. */
  databaseUrl?: string;
  /** That of another web, to start a second one. */
  database?: ServiceDatabase;
  /** By default the one that all test files share. */
  identityProvider?: Issuer;
  port?: number;
}

const unreachable = "http://127.0.0.1:9";

/** Starts the web in this process. */
export async function startWeb(
  cleanUp: CleanUp,
  { marketplaceUrl = unreachable, ehrUrl = unreachable, environment = {}, ...options }: WebOptions = {},
): Promise<RunningWeb> {
  await getSharedPart("pages");
  const { createApp } = await import("@ehr-marketplace/web/app");
  const { readConfig } = await import("@ehr-marketplace/web/config");
  const database = options.database ?? (await cloneDatabase(cleanUp, "web"));
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const identityProvider = options.identityProvider ?? (await getSharedIssuer());
  const config = readConfig({
    ...webEnvironment(
      options.databaseUrl ?? database.serviceUrl,
      { publicUrl: url, marketplaceUrl, ehrUrl },
      identityProvider,
    ),
    ...inProcessEnvironment,
    // On a busy machine the marketplace is slow, not down.
    CATALOG_TIMEOUT_MS: "60000",
    ...environment,
  });
  const { server } = await startInProcess(cleanUp, (logger) => createApp(config, logger), port);
  return { url, database, server, identityProvider, openBrowser: () => createBrowser(url), signIn };
}

/** A browser at the web with this URL. */
export function createBrowser(url: string): WebBrowser {
  const cookies = new Map<string, string>();
  const send = async (target: string, request: RequestInit, defaults: Record<string, string>): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = new Headers({ ...defaults, ...(cookie === "" ? {} : { cookie }) });
    // An empty one is left out.
    new Headers(request.headers).forEach((value, name) =>
      value === "" ? headers.delete(name) : headers.set(name, value),
    );
    const response = await fetch(new URL(target, url), { ...request, redirect: "manual", headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
  return {
    cookies,
    open: (target, request = {}) => send(target, request, { accept: "text/html", "sec-fetch-mode": "navigate" }),
    call: (path, request = {}) =>
      send(path, request, { "x-requested-with": "ehr-marketplace", "sec-fetch-site": "same-origin" }),
  };
}

/** Signs a persona in, and returns the response of the callback. */
export async function signIn(browser: WebBrowser, persona: Persona, options: SignInOptions = {}): Promise<Response> {
  const identityProvider = await import("@ehr-marketplace/dev/identity-provider");
  const { returnTo, atProvider = identityProvider.openBrowser() } = options;
  const query = returnTo === undefined ? "" : `?${new URLSearchParams({ returnTo }).toString()}`;
  const begun = await browser.open(`/login${query}`);
  const authorization = begun.headers.get("location") ?? "";
  const login = await atProvider(authorization);
  const loginUrl = new URL(login.headers.get("location") ?? "", authorization);
  const callback = await identityProvider.choosePersona(atProvider, loginUrl, persona);
  if (options.isOtherSite !== true) return browser.open(callback.href);
  const sent = [...browser.cookies].filter(([name]) => name !== "session").map(([name, value]) => `${name}=${value}`);
  return browser.open(callback.href, { headers: { cookie: sent.join("; ") } });
}
