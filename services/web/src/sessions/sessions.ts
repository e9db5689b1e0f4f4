import { randomBytes } from "node:crypto";
import { createTaskLimiter, Problem, standardProblems } from "@ehr-marketplace/service-kit/http";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import {
  type Caller,
  IssuerUnavailableError,
  TokenRefusedError,
  type TokenVerifier,
} from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { webProblems } from "../web-problems.ts";
import {
  type IdentityProvider,
  type IssuedTokens,
  providerUnavailable,
  type SignedIn,
  SignInRefusedError,
} from "./identity-provider.ts";
import {
  hashOfCookie,
  isExpired,
  isOver,
  isRefreshDue,
  isUseDue,
  type Session,
  type SessionLimits,
  type SessionTokens,
  tokensOwner,
} from "./session.ts";
import {
  allowIdle,
  deleteOldSessions,
  deleteSession,
  endSessionsOfSubject,
  findSession,
  insertSession,
  lockSession,
  type StoredSession,
  updateTokens,
  updateUse,
} from "./session-store.ts";

export interface SessionDeps {
  database: Kysely<DB>;
  encryption: Encryption;
  provider: IdentityProvider;
  tokens: Pick<TokenVerifier, "findVerified" | "verify">;
  limits: SessionLimits;
  clock: () => Date;
  logger: Logger;
}

const cookieBytes = 32;
/** Longer than discovery, the refresh and the provider's keys may take, each 5 s: a token that the provider has rotated must be stored. */
const maxRefreshMs = 20_000;
/** Each keeps a connection while the identity provider responds. */
const maxRefreshing = 4;
const maxWaitingToRefresh = 100;
const deletedAtOnce = 1_000;
/** Far more than browsers that a person uses. Without a limit, one user could fill the table, and ending all sessions would take long. */
const maxOfSubject = 100;
/** At once, when a user signs out in all browsers. */
const maxRevoked = 20;

const required = (detail: string): Problem => new Problem(webProblems.sessionRequired, detail);

const overloaded = (): Problem => {
  const detail = "Too many sessions wait for the identity provider.";
  return new Problem(standardProblems.overloaded, detail, { headers: { "retry-after": "2" } });
};

type Person = Pick<Session, "issuer" | "subject">;

export type Sessions = ReturnType<typeof createSessions>;

/** The sessions of browsers. Tokens stay in the database, encrypted, and the browser has only a random cookie. */
export function createSessions({ database, encryption, provider, tokens, limits, clock, logger }: SessionDeps) {
  const refreshes = createTaskLimiter(maxRefreshing, maxWaitingToRefresh);

  const verify = async (accessToken: string): Promise<Caller> => {
    try {
      return tokens.findVerified(accessToken) ?? (await tokens.verify(accessToken));
    } catch (error) {
      throw error instanceof IssuerUnavailableError ? providerUnavailable(error) : error;
    }
  };

  const encrypt = (id: string, content: SessionTokens): string =>
    encryption.encrypt(JSON.stringify(content), tokensOwner(id));

  /** Undefined: its key has been removed. */
  const decrypt = (stored: StoredSession): Session | undefined => {
    const { id, issuer, subject } = stored;
    const content = encryption.decryptIfPossible(stored.encrypted_tokens, tokensOwner(id));
    const session = {
      id,
      issuer,
      subject,
      accessExpiresAt: stored.access_expires_at,
      createdAt: stored.created_at,
      usedAt: stored.used_at,
    };
    return content === undefined ? undefined : { ...session, tokens: JSON.parse(content) as SessionTokens };
  };

  /** Undefined: it is over, or its key has been removed. */
  const open = (stored: StoredSession | undefined): Session | undefined => {
    const session = stored === undefined ? undefined : decrypt(stored);
    return session === undefined || isOver(session, clock(), limits) ? undefined : session;
  };

  /** The session is over in any case. A provider that can't be reached keeps the token until it expires; no copy of it is left here. */
  const revoke = async ({ refreshToken }: Pick<SessionTokens, "refreshToken">): Promise<void> => {
    if (refreshToken === undefined) return;
    await provider
      .revoke(refreshToken)
      .catch((error: unknown) => logger.warn({ err: error }, "failed to revoke a session's refresh token"));
  };

  /** Undefined: there is none any more. */
  const remove = async ({ id }: Pick<Session, "id">): Promise<Session | undefined> => {
    const stored = await deleteSession(database, id);
    return stored && decrypt(stored);
  };

  const findByHash = async (hash: string): Promise<Session | undefined> =>
    open(await findSession(database, Buffer.from(hash, "base64url")));

  const expiryOf = ({ expiresInSeconds }: IssuedTokens): Date => new Date(clock().getTime() + expiresInSeconds * 1_000);

  /** Under the row's lock: of several requests one refreshes, because a provider may revoke everything if a refresh token is used twice. */
  const refresh = async (session: Session): Promise<Session> => {
    if (refreshes.isFull()) throw overloaded();
    return refreshes.run(() =>
      database.transaction().execute(async (transaction) => {
        const current = open(await lockSession(transaction, session.id));
        if (current === undefined) throw required("The session has ended.");
        if (!isRefreshDue(current, clock())) return current;
        const { refreshToken, name } = current.tokens;
        if (refreshToken === undefined) {
          if (isExpired(current, clock())) throw required("The access token has expired.");
          return current;
        }
        await allowIdle(transaction, maxRefreshMs);
        const issued = await provider.refresh(refreshToken);
        const renewed = { accessToken: issued.accessToken, refreshToken: issued.refreshToken, name };
        const accessExpiresAt = expiryOf(issued);
        await updateTokens(transaction, session.id, {
          encrypted_tokens: encrypt(session.id, renewed),
          access_expires_at: accessExpiresAt,
        });
        return { ...current, tokens: renewed, accessExpiresAt };
      }),
    );
  };

  /** Refreshes the tokens if they expire soon. While the provider can't be reached, those that haven't expired are used. */
  const withValidToken = async (session: Session): Promise<Session> => {
    if (!isRefreshDue(session, clock())) return session;
    try {
      return await refresh(session);
    } catch (error) {
      if (error instanceof SignInRefusedError) {
        await deleteSession(database, session.id);
        throw required("The identity provider has ended the session.");
      }
      if (isExpired(session, clock())) throw error;
      logger.warn({ err: error }, "failed to refresh a session's tokens; continuing with those that it has");
      return session;
    }
  };

  /**
   * Ends sessions that a new one replaces. Those of the same person are deleted only: the identity provider may count both as one grant,
   * and would end the new one if a token of the old one were revoked.
   */
  const endReplaced = async (hashes: Iterable<string>, { issuer, subject }: Person): Promise<void> => {
    for (const hash of hashes) {
      const session = await findByHash(hash);
      if (session === undefined) continue;
      const removed = await remove(session);
      if (removed !== undefined && (removed.issuer !== issuer || removed.subject !== subject))
        await revoke(removed.tokens);
    }
  };

  return {
    /** Returns the cookie of a new session. Those with the given hashes of cookies end first: if that fails, there is no new one. */
    async begin({ name, providerSession, ...issued }: SignedIn, replaced: Iterable<string>): Promise<string> {
      const { issuer, subject } = await verify(issued.accessToken);
      const cookie = randomBytes(cookieBytes).toString("base64url");
      const id = uuid();
      const now = clock();
      const row = {
        id,
        cookie_hash: Buffer.from(hashOfCookie(cookie), "base64url"),
        issuer,
        subject,
        provider_session: providerSession ?? null,
        encrypted_tokens: encrypt(id, { accessToken: issued.accessToken, refreshToken: issued.refreshToken, name }),
        access_expires_at: expiryOf(issued),
        created_at: now,
        used_at: now,
      };
      try {
        await endReplaced(replaced, { issuer, subject });
        await database.transaction().execute((transaction) => insertSession(transaction, row, maxOfSubject));
      } catch (error) {
        // Without a session nobody could ever end what was issued.
        await revoke(issued);
        throw error;
      }
      return cookie;
    },

    /** Undefined: there is no such session, or it is over. */
    async find(cookie: string | undefined): Promise<Session | undefined> {
      return cookie === undefined ? undefined : findByHash(hashOfCookie(cookie));
    },

    /** The session, with an access token that is valid for a while. It counts as a use. */
    async use(cookie: string | undefined): Promise<Session> {
      if (cookie === undefined) throw required("No session's cookie was sent.");
      const session = await findByHash(hashOfCookie(cookie));
      if (session === undefined) throw required("The session has ended.");
      const now = clock();
      if (isUseDue(session, now)) await updateUse(database, session.id, now);
      return withValidToken(isUseDue(session, now) ? { ...session, usedAt: now } : session);
    },

    /** What the APIs will make of the session's token. */
    async callerOf({ tokens: { accessToken } }: Session): Promise<Caller> {
      try {
        return await verify(accessToken);
      } catch (error) {
        throw error instanceof TokenRefusedError ? required(`The access token is refused. ${error.message}`) : error;
      }
    },

    async end(session: Session): Promise<void> {
      const removed = await remove(session);
      if (removed !== undefined) await revoke(removed.tokens);
    },

    /** Of all browsers of the user. The tokens of those that were used last are revoked; more would take longer than a request may. */
    async endAll({ issuer, subject }: Session): Promise<void> {
      const { count, newest } = await endSessionsOfSubject(
        database,
        { issuer, subject },
        { before: clock(), limit: maxRevoked },
      );
      if (count > newest.length) {
        logger.warn({ kept: count - newest.length }, "some refresh tokens of ended sessions aren't revoked");
      }
      const known = newest.map(decrypt).filter((session) => session !== undefined);
      await Promise.all(known.map(({ tokens: content }) => revoke(content)));
    },

    /** For the hourly maintenance. */
    async deleteOld(): Promise<void> {
      const ago = (ms: number): Date => new Date(clock().getTime() - ms);
      const old = { usedBefore: ago(limits.idleMs), createdBefore: ago(limits.maxMs), limit: deletedAtOnce };
      while ((await deleteOldSessions(database, old)) > 0);
    },
  };
}
