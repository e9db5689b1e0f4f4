import type { FastifyInstance, FastifyRequest, FastifySchema, onRequestAsyncHookHandler } from "fastify";
import { type Caller, holds, type Role } from "../tokens/caller.ts";
import { IssuerAwayError } from "../tokens/issuer-keys.ts";
import { TokenRefusedError, type Tokens } from "../tokens/verify-token.ts";
import { Problem } from "./problem.ts";
import { addressCounted, rateCounter } from "./rate-limit.ts";
import { createSlots } from "./slots.ts";
import { standardProblems } from "./standard-problems.ts";

/** Who may come in at all; on what they may act is for the use case to say. */
export type Access = "anyone" | readonly [Role, ...Role[]];

declare module "fastify" {
  interface FastifyContextConfig {
    /** Every route says it; without it the server doesn't start. */
    access?: Access;
  }
  interface FastifyRequest {
    caller: Caller | undefined;
  }
  interface FastifyInstance {
    /** Every route with what it requires and what it reads, as the server itself knows it. */
    routesAndAccess: readonly ServedRoute[];
  }
}

export interface ServedRoute {
  method: string;
  url: string;
  access: Access;
  schema: FastifySchema | undefined;
  maxBodyBytes: number;
}

export interface AccessOptions {
  tokens: Pick<Tokens, "findVerified" | "verify">;
  /** Of one caller, over all routes that ask for a token. */
  requestsPerMinute: number;
  /** Of one address, in which many people may sit. */
  refusedTokensPerMinute: number;
}

/** Who sent the request. Only routes that ask for a token may use it. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === undefined) throw new Error(`${request.routeOptions.url} is open to anyone: it has no caller`);
  return request.caller;
}

/** For routes that a library registers and that carry no statement of ours. */
export function openToAnyone(scope: FastifyInstance): void {
  scope.addHook("onRoute", (route) => {
    route.config = { ...route.config, access: "anyone" };
  });
}

export function forbidden(caller: Caller, detail: string): Problem {
  return new Problem(standardProblems.forbidden, [detail, ...caller.uncounted].join(" "));
}

/** Closed by default: a route states what it requires, or the server doesn't start. */
export function controlAccess(server: FastifyInstance, options: AccessOptions): void {
  const served: (Omit<ServedRoute, "access"> & { access: Access | undefined; checked: boolean })[] = [];
  const checkToken = tokenCheck(options);
  server.decorateRequest("caller", undefined);
  server.decorate("routesAndAccess", []);

  server.addHook("onRoute", (route) => {
    const hooksOf = (): unknown[] => [route.onRequest ?? []].flat();
    const { access } = route.config ?? {};
    // After the scope's hooks, so that whoever is refused can read it: those set the headers for other origins. Before
    // the route's own. And only once where a library has made the route from another one, hooks included.
    if (access !== undefined && access !== "anyone" && !hooksOf().includes(checkToken)) {
      route.onRequest = [checkToken, ...[route.onRequest ?? []].flat()];
    }
    for (const method of [route.method].flat()) {
      served.push({
        method,
        url: route.url,
        schema: route.schema,
        maxBodyBytes: route.bodyLimit ?? server.initialConfig.bodyLimit ?? 0,
        // Hooks of child scopes run after this one, and may still change both.
        get checked() {
          return hooksOf().includes(checkToken);
        },
        get access() {
          return route.config?.access;
        },
      });
    }
  });

  server.addHook("onReady", (done) => {
    const namesOf = (routes: typeof served): string => routes.map(({ method, url }) => `${method} ${url}`).join(", ");
    const unstated = namesOf(served.filter(({ access }) => access === undefined));
    const otherwise = namesOf(
      served.filter(({ access, checked }) => access !== undefined && checked !== (access !== "anyone")),
    );
    if (unstated !== "") {
      done(new Error(`These routes don't state who may use them: ${unstated}. Set config.access of each.`));
    } else if (otherwise !== "") {
      done(new Error(`These routes are not checked as they state: ${otherwise}. A hook changed them too late.`));
    } else {
      server.routesAndAccess = served.map(({ access = "anyone", checked: _checked, ...route }) => ({
        ...route,
        access,
      }));
      done();
    }
  });
}

/** Half of the threads that verify signatures, and a wait of some 10 ms. */
const maxVerifying = 2;
const maxWaitingToVerify = 100;

function tokenCheck({ tokens, ...options }: AccessOptions): onRequestAsyncHookHandler {
  const requests = rateCounter(options.requestsPerMinute);
  const refusals = rateCounter(options.refusedTokensPerMinute);
  const slots = createSlots(maxVerifying, maxWaitingToVerify);

  /**
   * Many people may share an address, so bad tokens from it don't refuse good ones. Beyond the limit an unknown token is still
   * verified, in a few slots that all such addresses share, and without waiting for keys to be fetched.
   */
  const verify = async (token: string, address: string): Promise<Caller> => {
    const tooManyRefusals = refusals.exceeded(address);
    if (tooManyRefusals !== undefined && slots.isFull()) throw tooManyRefusals;
    try {
      if (tooManyRefusals === undefined) return await tokens.verify(token);
      return await slots.run(() => tokens.verify(token, { waitForKeys: false }));
    } catch (error) {
      if (error instanceof IssuerAwayError) throw unverifiable(error);
      if (!(error instanceof TokenRefusedError)) throw error;
      refusals.count(address);
      throw tooManyRefusals ?? unauthorized(error.message, "invalid_token");
    }
  };

  return async (request) => {
    const token = bearerTokenOf(request);
    const caller = tokens.findVerified(token) ?? (await verify(token, addressCounted(request.ip)));
    // Also of a request that is refused from here on: the log names its caller by a hash.
    request.caller = caller;
    const tooMany = caller.roles.has("ehr-service")
      ? undefined
      : requests.count(JSON.stringify([caller.issuer, caller.subject]));
    if (tooMany !== undefined) throw tooMany;
    const { access } = request.routeOptions.config;
    if (access === undefined || access === "anyone" || !access.some((role) => holds(caller, role))) {
      const allowed = Array.isArray(access) ? access : ["nobody"];
      const roles = allowed.length === 1 ? "the role" : "one of the roles";
      throw forbidden(caller, `This is for callers with ${roles} ${allowed.join(", ")}.`);
    }
  };
}

const bearer = /^Bearer +([\w.~+/-]+=*) *$/i;

function bearerTokenOf(request: FastifyRequest): string {
  const { authorization } = request.headers;
  if (authorization === undefined) throw unauthorized("No token was sent.");
  const token = bearer.exec(authorization)?.[1];
  if (token === undefined) throw unauthorized("The Authorization header must be: Bearer, a space, and the token.");
  return token;
}

function unverifiable(error: IssuerAwayError): Problem {
  const detail = "Tokens can't be verified yet, because their issuer doesn't answer.";
  return new Problem(standardProblems.unavailable, detail, { headers: { "retry-after": "5" }, cause: error });
}

function unauthorized(why: string, error?: "invalid_token"): Problem {
  const detail = error === undefined ? why : `The token is refused. ${why}`;
  const challenge = error === undefined ? "" : `, error="${error}", error_description="${why}"`;
  return new Problem(standardProblems.unauthorized, detail, {
    headers: { "www-authenticate": `Bearer realm="api"${challenge}` },
  });
}
