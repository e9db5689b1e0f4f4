import { createHash } from "node:crypto";

/** By which a session is found: only the browser has the cookie itself. */
export const hashOfCookie = (cookie: string): string => createHash("sha256").update(cookie).digest("base64url");

/** What the identity provider issued. It never leaves the server. */
export interface SessionTokens {
  accessToken: string;
  /** Undefined: the provider issues none, so the session ends with the access token. */
  refreshToken: string | undefined;
  /** The user's name, for the page. */
  name: string | undefined;
}

export interface Session {
  id: string;
  issuer: string;
  subject: string;
  tokens: SessionTokens;
  accessExpiresAt: Date;
  createdAt: Date;
  usedAt: Date;
}

export interface SessionLimits {
  /** Without a request. */
  idleMs: number;
  /** Since sign-in, however much it is used. */
  maxMs: number;
}

/** A token that expires while a request is on its way would be refused. */
const refreshMarginMs = 60_000;
/** Written at most once a minute, so that a page with many requests doesn't write for each. */
const useIntervalMs = 60_000;

type Times = Pick<Session, "createdAt" | "usedAt">;

export const isOver = ({ createdAt, usedAt }: Times, now: Date, { idleMs, maxMs }: SessionLimits): boolean =>
  now.getTime() >= usedAt.getTime() + idleMs || now.getTime() >= createdAt.getTime() + maxMs;

/** When the session ends unless it is used before. */
export const endOf = ({ createdAt, usedAt }: Times, { idleMs, maxMs }: SessionLimits): Date =>
  new Date(Math.min(usedAt.getTime() + idleMs, createdAt.getTime() + maxMs));

export const isUseDue = ({ usedAt }: Pick<Session, "usedAt">, now: Date): boolean =>
  now.getTime() >= usedAt.getTime() + useIntervalMs;

export const isRefreshDue = ({ accessExpiresAt }: Pick<Session, "accessExpiresAt">, now: Date): boolean =>
  now.getTime() >= accessExpiresAt.getTime() - refreshMarginMs;

export const isExpired = ({ accessExpiresAt }: Pick<Session, "accessExpiresAt">, now: Date): boolean =>
  now.getTime() >= accessExpiresAt.getTime();

const personCharacters = 22;

/** Who it is, in a form that says nothing else: pages name it, so that nothing is done in the name of somebody who has signed in meanwhile. */
export const personOf = ({ issuer, subject }: Pick<Session, "issuer" | "subject">): string =>
  createHash("sha256").update(`${issuer}\n${subject}`).digest("base64url").slice(0, personCharacters);

/** The row that the tokens are encrypted for. */
export const tokensOwner = (id: string): string => `web.sessions ${id}`;
