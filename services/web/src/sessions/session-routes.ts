import { isDatabaseUnavailable } from "@ehr-marketplace/service-kit/database";
import {
  disableCaching,
  escapeHtml,
  limitRate,
  Problem,
  pageHeaders,
  renderPage,
} from "@ehr-marketplace/service-kit/http";
import { type LogoutTokenVerifier, TokenRefusedError } from "@ehr-marketplace/service-kit/tokens";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Kysely } from "kysely";
import { Type } from "typebox";
import type { DB } from "../database-schema.ts";
import type { WriteMessage } from "../storefront/error-shape.ts";
import type { MessageData } from "../storefront/page-data.ts";
import { webProblems } from "../web-problems.ts";
import type { Cookies } from "./cookies.ts";
import { type IdentityProvider, SignInRefusedError } from "./identity-provider.ts";
import { resolveReturnTo } from "./return-to.ts";
import { requireSameOrigin, requireScript } from "./same-origin.ts";
import { hashOfCookie, type SessionLimits } from "./session.ts";
import { describeSession } from "./session-dto.ts";
import { messages } from "./session-messages.ts";
import type { Sessions } from "./sessions.ts";
import { signOutByProvider } from "./sign-out-by-provider.ts";

export interface SessionRouteOptions {
  database: Kysely<DB>;
  sessions: Sessions;
  cookies: Cookies;
  provider: IdentityProvider;
  logoutTokens: Pick<LogoutTokenVerifier, "verify">;
  limits: SessionLimits;
  publicUrl: string;
  writeMessage: WriteMessage;
  requestsPerMinute: number;
  clock: () => Date;
}

const anyone = { config: { access: "anyone" } } as const;
const maxParameterLength = 2_000;
const parameter = Type.Optional(Type.String({ maxLength: maxParameterLength }));
/** Of forms. Unknown ones are ignored, as OpenID Connect requires. */
const maxProperties = 20;
const retryAfterSeconds = "5";
const form = "application/x-www-form-urlencoded";

const hashOf = (cookie: string | undefined): string | undefined =>
  cookie === undefined ? undefined : hashOfCookie(cookie);

/** Sign-in, sign-out, and what the page knows of its session. */
export const sessionRoutes: FastifyPluginAsyncTypebox<SessionRouteOptions> = async (scope, options) => {
  const { database, sessions, cookies, provider, publicUrl, clock } = options;
  const { origin } = new URL(publicUrl);
  disableCaching(scope);
  limitRate(scope, options.requestsPerMinute);
  scope.addContentTypeParser(form, { parseAs: "string" }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body as string))),
  );

  const show = (reply: FastifyReply, status: number, message: MessageData) => {
    const { headers, html } = options.writeMessage(message);
    return reply.code(status).headers(headers).send(html);
  };
  /** What a person is told about a failure that passes. Others are thrown. */
  const showUnavailable = (
    request: FastifyRequest,
    reply: FastifyReply,
    error: unknown,
    message: Record<"provider" | "database", MessageData>,
  ) => {
    const isProvider = error instanceof Problem && error.kind === webProblems.signInUnavailable;
    if (!isProvider && !isDatabaseUnavailable(error)) throw error;
    request.log.error({ requestId: request.id, err: error }, "failed to sign somebody in or out");
    reply.header("retry-after", retryAfterSeconds);
    return show(reply, 503, message[isProvider ? "provider" : "database"]);
  };
  const signInMessages = (returnTo: string) => ({
    provider: messages.providerUnavailable(returnTo),
    database: messages.sessionsUnavailable(returnTo),
  });

  scope.get(
    "/login",
    { ...anyone, schema: { querystring: Type.Object({ returnTo: parameter }) } },
    async (request, reply) => {
      try {
        const { url, transaction } = await provider.beginSignIn();
        const returnTo = resolveReturnTo(request.query.returnTo, publicUrl);
        // The browser sends the session's cookie from our own pages, and not from the identity provider's site to the callback.
        const replaces = hashOf(cookies.session(request));
        cookies.setSignIn(request, reply, { ...transaction, returnTo, replaces, begunAt: clock().getTime() });
        return await reply.redirect(url, 303);
      } catch (error) {
        return showUnavailable(request, reply, error, signInMessages(request.query.returnTo ?? "/"));
      }
    },
  );

  const callbackQuery = Type.Object({ state: parameter, code: parameter, error: parameter });
  scope.get("/callback", { ...anyone, schema: { querystring: callbackQuery } }, async (request, reply) => {
    const { state = "", code, error } = request.query;
    const pending = cookies.findSignIn(request, state, clock());
    if (pending === undefined || (code === undefined && error === undefined)) {
      return show(reply, 400, messages.incomplete);
    }
    cookies.clearSignIn(reply, state);
    try {
      const signedIn = await provider.completeSignIn(new URL(request.url, publicUrl), pending);
      // A new session replaces the browser's previous one, so that a cookie that an attacker has put there is worthless (session fixation).
      const replaced = [pending.replaces, hashOf(cookies.session(request))].filter((hash) => hash !== undefined);
      cookies.setSession(reply, await sessions.begin(signedIn, new Set(replaced)));
    } catch (failure) {
      if (failure instanceof SignInRefusedError || failure instanceof TokenRefusedError) {
        request.log.warn({ requestId: request.id, err: failure }, "a sign-in was refused");
        const isCancelled = failure.message === "access_denied";
        return show(reply, 403, isCancelled ? messages.cancelled : messages.refused(failure.message));
      }
      return showUnavailable(request, reply, failure, signInMessages(pending.returnTo.slice(origin.length)));
    }
    // Not a redirect: the browser wouldn't send a Strict cookie after one that another site began.
    const target = escapeHtml(pending.returnTo);
    return reply
      .headers({ ...pageHeaders, refresh: `0; url=${pending.returnTo}` })
      .send(renderPage("Signed in", `<h1>You are signed in</h1><p><a href="${target}">Continue</a></p>`));
  });

  scope.post(
    "/logout",
    {
      config: { access: "anyone", bodyMayBeOmitted: true },
      schema: {
        body: Type.Optional(Type.Object({ everywhere: Type.Optional(Type.Literal("true")) }, { maxProperties })),
      },
    },
    async (request, reply) => {
      requireSameOrigin(request, origin);
      const cookie = cookies.session(request);
      // Whatever fails below, this browser forgets the session.
      cookies.clearSession(reply);
      try {
        const session = await sessions.find(cookie);
        if (session === undefined) return await reply.redirect("/", 303);
        const isEverywhere = request.body?.everywhere === "true";
        // At once: each waits some seconds for a provider that doesn't respond.
        const [url] = await Promise.all([
          provider.findSignOutUrl().catch(() => null),
          isEverywhere ? sessions.endAll(session) : sessions.end(session),
        ]);
        if (url === null) return await show(reply, 200, messages.signedOutHereOnly);
        return await reply.redirect(url ?? "/", 303);
      } catch (error) {
        const message = messages.signedOutInBrowserOnly;
        return showUnavailable(request, reply, error, { provider: message, database: message });
      }
    },
  );

  // Of the identity provider, when a user signs out there or an administrator ends the session.
  const logoutBody = Type.Object({ logout_token: Type.String({ maxLength: 8_192 }) }, { maxProperties });
  scope.post("/backchannel-logout", { ...anyone, schema: { body: logoutBody } }, async (request, reply) => {
    try {
      await signOutByProvider(database, await options.logoutTokens.verify(request.body.logout_token));
      return await reply.code(200).send();
    } catch (error) {
      if (!(error instanceof TokenRefusedError)) throw error;
      return reply.code(400).send({ error: "invalid_request", error_description: error.message });
    }
  });

  scope.get("/bff/session", anyone, async (request, reply) => {
    requireScript(request, origin);
    const cookie = cookies.session(request);
    try {
      const session = await sessions.use(cookie);
      return describeSession(session, await sessions.callerOf(session), options.limits);
    } catch (error) {
      if (!(error instanceof Problem && error.kind === webProblems.sessionRequired)) throw error;
      if (cookie !== undefined) cookies.clearSession(reply);
      return { signedIn: false };
    }
  });
};
