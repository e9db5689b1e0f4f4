import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { CookieSerializeOptions } from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { SignInTransaction } from "./identity-provider.ts";

/** A sign-in that the browser has begun. */
export interface PendingSignIn extends SignInTransaction {
  returnTo: string;
  /** The hash of the cookie of the session that the browser had. */
  replaces: string | undefined;
  /** In milliseconds. */
  begunAt: number;
}

const signInMinutes = 10;
const stateCharacters = 12;
/** Those of many tabs, which a browser opens at once when it starts, would be more than a request's headers may have. */
const maxPending = 4;
const owner = "sign-in";

export type Cookies = ReturnType<typeof createCookies>;

/**
 * The cookies of browsers. `__Host-` binds them to this host and to TLS; a local stack without TLS can't use that. The session's cookie is
 * `Strict`: no other site's link or form sends it. That of a sign-in is `Lax`, because the identity provider's site redirects back.
 */
export function createCookies(encryption: Encryption, { isSecure }: { isSecure: boolean }) {
  const prefix = isSecure ? "__Host-" : "";
  const sessionName = `${prefix}session`;
  /** One for each, because a user may sign in in two tabs at once. */
  const signInName = (state: string): string => `${prefix}sign-in-${state.slice(0, stateCharacters)}`;
  const common: CookieSerializeOptions = { path: "/", httpOnly: true, secure: isSecure };
  const lax: CookieSerializeOptions = { ...common, sameSite: "lax" };
  const strict: CookieSerializeOptions = { ...common, sameSite: "strict" };

  const open = (encrypted: string | undefined): PendingSignIn | undefined => {
    const text = encrypted === undefined ? undefined : encryption.decryptIfPossible(encrypted, owner);
    return text === undefined ? undefined : (JSON.parse(text) as PendingSignIn);
  };

  return {
    session: (request: FastifyRequest): string | undefined => request.cookies[sessionName],
    setSession: (reply: FastifyReply, cookie: string): FastifyReply => reply.setCookie(sessionName, cookie, strict),
    clearSession: (reply: FastifyReply): FastifyReply => reply.clearCookie(sessionName, strict),

    setSignIn(request: FastifyRequest, reply: FastifyReply, pending: PendingSignIn): void {
      const older = Object.keys(request.cookies)
        .filter((name) => name.startsWith(signInName("")))
        .map((name) => ({ name, begunAt: open(request.cookies[name])?.begunAt ?? 0 }))
        .toSorted((one, other) => other.begunAt - one.begunAt);
      for (const { name } of older.slice(maxPending - 1)) reply.clearCookie(name, lax);
      const encrypted = encryption.encrypt(JSON.stringify(pending), owner);
      reply.setCookie(signInName(pending.state), encrypted, { ...lax, maxAge: signInMinutes * 60 });
    },
    /** Undefined: this browser hasn't begun it, or too long ago. */
    findSignIn(request: FastifyRequest, state: string, now: Date): PendingSignIn | undefined {
      const pending = open(request.cookies[signInName(state)]);
      if (pending?.state !== state || now.getTime() > pending.begunAt + signInMinutes * 60_000) return undefined;
      return pending;
    },
    clearSignIn: (reply: FastifyReply, state: string): FastifyReply => reply.clearCookie(signInName(state), lax),
  };
}
