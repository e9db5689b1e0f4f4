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
import type { FastifyReply } from "fastify";
import type { Kysely } from "kysely";
import { Type } from "typebox";
import type { DB } from "../database-schema.ts";
import { webProblems } from "../web-problems.ts";
import type { Cookies } from "./cookies.ts";
import { type IdentityProvider, SignInRefusedError } from "./identity-provider.ts";
import { resolveReturnTo } from "./return-to.ts";
import { requireSameOrigin, requireScript } from "./same-origin.ts";
import type { SessionLimits } from "./session.ts";
import { describeSession } from "./session-dto.ts";
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
  requestsPerMinute: number;
  clock: () => Date;
}

const anyone = { config: { access: "anyone" } } as const;
const maxParameterLength = 2_000;
const parameter = Type.Optional(Type.String({ maxLength: maxParameterLength }));
const form = "application/x-www-form-urlencoded";

/** A page for those cases in which a person has to know that signing in didn't work. */
function sendPage(reply: FastifyReply, { status, title, text }: { status: number; title: string; text: string }) {
  const link = '<p><a href="/login">Sign in</a> or go <a href="/">to the start page</a>.</p>';
  return reply
    .code(status)
    .headers(pageHeaders)
    .send(renderPage(title, `<h1>${escapeHtml(title)}</h1><p class="lead">${escapeHtml(text)}</p>${link}`));
}

/** Sign-in, sign-out, and what the page knows of its session. */
export const sessionRoutes: FastifyPluginAsyncTypebox<SessionRouteOptions> = async (scope, options) => {
  const { database, sessions, cookies, provider, publicUrl, clock } = options;
  const { origin } = new URL(publicUrl);
  disableCaching(scope);
  limitRate(scope, options.requestsPerMinute);
  scope.addContentTypeParser(form, { parseAs: "string" }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body as string))),
  );

  const unavailablePage = (reply: FastifyReply, error: unknown) => {
    if (!(error instanceof Problem && error.kind === webProblems.signInUnavailable)) throw error;
    return sendPage(reply.headers(error.headers), {
      status: 503,
      title: "Signing in doesn't work at the moment",
      text: "The identity provider doesn't respond. The catalog can be read meanwhile. Try again in a minute.",
    });
  };

  scope.get(
    "/login",
    { ...anyone, schema: { querystring: Type.Object({ returnTo: parameter }) } },
    async (request, reply) => {
      try {
        const { url, transaction } = await provider.beginSignIn();
        const returnTo = resolveReturnTo(request.query.returnTo, publicUrl);
        cookies.setSignIn(request, reply, { ...transaction, returnTo, begunAt: clock().getTime() });
        return await reply.redirect(url, 303);
      } catch (error) {
        return unavailablePage(reply, error);
      }
    },
  );

  const callbackQuery = Type.Object({ state: parameter, code: parameter, error: parameter });
  scope.get("/callback", { ...anyone, schema: { querystring: callbackQuery } }, async (request, reply) => {
    const { state = "", code, error } = request.query;
    const pending = cookies.findSignIn(request, state, clock());
    if (pending === undefined || (code === undefined && error === undefined)) {
      return sendPage(reply, {
        status: 400,
        title: "This sign-in can't be completed",
        text: "It was begun in another browser, more than ten minutes ago, or it is completed already.",
      });
    }
    cookies.clearSignIn(reply, state);
    try {
      const signedIn = await provider.completeSignIn(new URL(request.url, publicUrl), pending);
      // A new session replaces the browser's previous one, so that a cookie that an attacker has put there is worthless (session fixation).
      const previous = await sessions.find(cookies.session(request));
      cookies.setSession(reply, await sessions.begin(signedIn));
      if (previous !== undefined) await sessions.end(previous);
    } catch (failure) {
      if (failure instanceof SignInRefusedError || failure instanceof TokenRefusedError) {
        request.log.warn({ requestId: request.id, err: failure }, "a sign-in was refused");
        return sendPage(reply, {
          status: 403,
          title: "You are not signed in",
          text:
            failure.message === "access_denied"
              ? "Signing in was cancelled."
              : `The sign-in was refused (${failure.message}). If it happens again, tell your administrator.`,
        });
      }
      return unavailablePage(reply, failure);
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
      schema: { body: Type.Optional(Type.Object({ everywhere: Type.Optional(Type.Literal("true")) })) },
    },
    async (request, reply) => {
      requireSameOrigin(request, origin);
      const session = await sessions.find(cookies.session(request));
      cookies.clearSession(reply);
      if (session === undefined) return reply.redirect("/", 303);
      if (request.body?.everywhere === "true") await sessions.endAll(session);
      await sessions.end(session);
      const url = await provider.findSignOutUrl().catch(() => undefined);
      return reply.redirect(url ?? "/", 303);
    },
  );

  // Of the identity provider, when a user signs out there or an administrator ends the session.
  const logoutBody = Type.Object({ logout_token: Type.String({ maxLength: 8_192 }) });
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
