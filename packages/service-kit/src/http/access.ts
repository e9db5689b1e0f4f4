import type { FastifyInstance, FastifyRequest, FastifySchema, onRequestAsyncHookHandler } from "fastify";
import { type Caller, hasRole, type Role } from "../tokens/caller.ts";
import { IssuerUnavailableError } from "../tokens/issuer-keys.ts";
import { TokenRefusedError, type TokenVerifier } from "../tokens/token-verifier.ts";
import { type CallerSlots, createCallerSlots } from "./caller-slots.ts";
import { Problem } from "./problem.ts";
import { createRateCounter } from "./rate-limit.ts";
import { standardProblems } from "./standard-problems.ts";
import { createTaskLimiter } from "./task-limiter.ts";

/** The roles that may call a route. Use cases check access to individual resources. */
export type Access = "anyone" | readonly [Role, ...Role[]];

declare module "fastify" {
  interface FastifyContextConfig {
    /** Required for every route; without it the server doesn't start. */
    access?: Access;
    /** Allowed requests don't count toward the caller's limit. For routes that one machine calls for all users; see `limitCallers`. */
    isUnlimited?: boolean;
    /** Its requests have slots of their own, because they take long. They don't count as the caller's requests in progress. */
    hasOwnSlots?: boolean;
  }
  interface FastifyRequest {
    caller: Caller | undefined;
  }
  interface FastifyInstance {
    /** All registered routes with their access rules and schemas. */
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
  tokens: Pick<TokenVerifier, "findVerified" | "verify">;
  /** Per caller, over all routes that require a token. */
  requestsPerMinute: number;
  /** Per caller; further ones wait. */
  requestsAtOnce: number;
  /** Per address, which many users may share. */
  refusedTokensPerMinute: number;
}

/** Returns the caller of the request. Only for routes that require a token. */
export function getCaller(request: FastifyRequest): Caller {
  if (request.caller === undefined)
    throw new Error(`${request.routeOptions.url} is public, so the request has no caller`);
  return request.caller;
}

/** Makes the routes of a scope public, for routes that a library registers. */
export function allowAnyone(scope: FastifyInstance): void {
  scope.addHook("onRoute", (route) => {
    route.config = { ...route.config, access: "anyone" };
  });
}

const keyOfCaller = (request: FastifyRequest): string => {
  const { issuer, subject } = getCaller(request);
  return JSON.stringify([issuer, subject]);
};

/** Limits the requests of each caller to one route. For the `onRequest` of a route that is `isUnlimited`. */
export function limitCallers(scope: FastifyInstance, perMinute: number): onRequestAsyncHookHandler {
  const requests = createRateCounter(scope, {
    perMinute,
    detail: `The limit of this route is ${perMinute} requests per minute for each caller.`,
    keyGenerator: keyOfCaller,
  });
  return async (request) => {
    const tooMany = await requests.count(request);
    if (tooMany !== undefined) throw tooMany;
  };
}

export function forbidden(caller: Caller, detail: string): Problem {
  return new Problem(standardProblems.forbidden, [detail, ...caller.ignoredRoleReasons].join(" "));
}

/** Enforces `config.access` of every route. The server doesn't start if a route lacks it. Without `options` all routes are public. */
export function controlAccess(server: FastifyInstance, options: AccessOptions | undefined): void {
  const served: (Omit<ServedRoute, "access"> & { access: Access | undefined; checked: boolean })[] = [];
  const slots = createCallerSlots(options?.requestsAtOnce ?? Number.POSITIVE_INFINITY);
  const checkToken = options && createTokenCheck(server, options, slots);
  server.decorateRequest("caller", undefined);
  server.decorate("routesAndAccess", []);

  server.addHook("onRoute", (route) => {
    const hooksOf = (): unknown[] => [route.onRequest ?? []].flat();
    const { access } = route.config ?? {};
    // Runs after the scope's hooks, which set the CORS headers that a browser needs to read a refusal, and before the route's own.
    // Added once only: a library may derive a route from another one, hooks included.
    if (checkToken && access !== undefined && access !== "anyone" && !hooksOf().includes(checkToken)) {
      route.onRequest = [checkToken, ...[route.onRequest ?? []].flat()];
      route.handler = slots.wrap(route.handler);
    }
    for (const method of [route.method].flat()) {
      served.push({
        method,
        url: route.url,
        schema: route.schema,
        maxBodyBytes: route.bodyLimit ?? server.initialConfig.bodyLimit ?? 0,
        // Getters, because hooks of child scopes run after this one and may change both.
        get checked() {
          return checkToken !== undefined && hooksOf().includes(checkToken);
        },
        get access() {
          return route.config?.access;
        },
      });
    }
  });

  server.addHook("onReady", (done) => {
    const namesOf = (routes: typeof served): string => routes.map(({ method, url }) => `${method} ${url}`).join(", ");
    const withoutAccess = namesOf(served.filter(({ access }) => access === undefined));
    const unchecked = namesOf(served.filter(({ access }) => options === undefined && Array.isArray(access)));
    const inconsistent = namesOf(
      served.filter(({ access, checked }) => access !== undefined && checked !== (access !== "anyone")),
    );
    if (withoutAccess !== "") {
      done(new Error(`These routes have no access rule: ${withoutAccess}. Set config.access of each.`));
    } else if (unchecked !== "") {
      done(new Error(`This server verifies no tokens, which these routes require: ${unchecked}.`));
    } else if (inconsistent !== "") {
      done(
        new Error(
          `The token check of these routes doesn't match their config.access: ${inconsistent}. A hook changed them too late.`,
        ),
      );
    } else {
      server.routesAndAccess = served.map(({ access = "anyone", checked: _checked, ...route }) => ({
        ...route,
        access,
      }));
      done();
    }
  });
}

/** Half of the libuv threads that verify signatures; the queue takes about 10 ms. */
const maxVerifying = 2;
const maxWaitingToVerify = 100;

function createTokenCheck(
  server: FastifyInstance,
  { tokens, ...options }: AccessOptions,
  slots: CallerSlots,
): onRequestAsyncHookHandler {
  const requests = createRateCounter(server, {
    perMinute: options.requestsPerMinute,
    detail: `The limit is ${options.requestsPerMinute} requests per minute for each caller.`,
    keyGenerator: keyOfCaller,
  });
  const refusals = createRateCounter(server, {
    perMinute: options.refusedTokensPerMinute,
    detail: "Too many invalid tokens were sent from this address.",
  });
  const verifications = createTaskLimiter(maxVerifying, maxWaitingToVerify);

  /**
   * Many users may share an address, so invalid tokens from it must not block valid ones. Above the limit an unknown token is still
   * verified, a few at a time over all such addresses, and without waiting for keys to be fetched.
   */
  const verify = async (token: string, request: FastifyRequest): Promise<Caller> => {
    const tooManyRefusals = await refusals.check(request);
    if (tooManyRefusals !== undefined && verifications.isFull()) throw tooManyRefusals;
    try {
      if (tooManyRefusals === undefined) return await tokens.verify(token);
      return await verifications.run(() => tokens.verify(token, { waitForKeys: false }));
    } catch (error) {
      if (error instanceof IssuerUnavailableError) throw issuerUnavailable(error);
      if (!(error instanceof TokenRefusedError)) throw error;
      await refusals.count(request);
      throw tooManyRefusals ?? unauthorized(error.message, "invalid_token");
    }
  };

  return async (request, reply) => {
    const token = getBearerToken(request);
    const caller = tokens.findVerified(token) ?? (await verify(token, request));
    // Set before the checks below, because the request log includes a hash of the caller of a refused request.
    request.caller = caller;
    const { access, isUnlimited = false, isStreamed = false, hasOwnSlots = false } = request.routeOptions.config;
    const isAllowed = access !== undefined && access !== "anyone" && access.some((role) => hasRole(caller, role));
    const isCounted = !caller.roles.has("ehr-service") && !(isUnlimited && isAllowed);
    const tooMany = isCounted ? await requests.count(request) : undefined;
    if (tooMany !== undefined) throw tooMany;
    if (!isAllowed) {
      const allowed = Array.isArray(access) ? access : ["(none)"];
      const roles = allowed.length === 1 ? "the role" : "one of the roles";
      throw forbidden(caller, `This route requires ${roles} ${allowed.join(", ")}.`);
    }
    // One machine sends the requests of all users.
    const isMachine = caller.roles.has("ehr-service") || caller.roles.has("launch-redeemer");
    if (!isMachine && !isStreamed && !hasOwnSlots) await slots.take(keyOfCaller(request), request, reply);
  };
}

const bearer = /^Bearer +([\w.~+/-]+=*) *$/i;

function getBearerToken(request: FastifyRequest): string {
  const { authorization } = request.headers;
  if (authorization === undefined) throw unauthorized("No token was sent.");
  const token = bearer.exec(authorization)?.[1];
  if (token === undefined) throw unauthorized("The Authorization header must have the form: Bearer <token>.");
  return token;
}

function issuerUnavailable(error: IssuerUnavailableError): Problem {
  const detail = "Tokens can't be verified, because the token issuer is unavailable.";
  return new Problem(standardProblems.unavailable, detail, { headers: { "retry-after": "5" }, cause: error });
}

function unauthorized(reason: string, error?: "invalid_token"): Problem {
  const detail = error === undefined ? reason : `The token is invalid. ${reason}`;
  const challenge = error === undefined ? "" : `, error="${error}", error_description="${reason}"`;
  return new Problem(standardProblems.unauthorized, detail, {
    headers: { "www-authenticate": `Bearer realm="api"${challenge}` },
  });
}
