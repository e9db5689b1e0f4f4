import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import { endOf, personOf, type Session, type SessionLimits } from "./session.ts";

/** What the page knows of its session: no token, and nothing that can be exchanged for one. */
export interface SessionDto {
  signedIn: true;
  /** The same for all sessions of this person, and of nobody else. Scripts send it with each request. */
  person: string;
  name: string | null;
  practices: { alias: string; isAdmin: boolean }[];
  vendors: string[];
  /** Of the marketplace's staff. */
  roles: string[];
  /** When the session ends unless it is used before. */
  endsAt: string;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const describeSession = (session: Session, caller: Caller, limits: SessionLimits): SessionDto => ({
  signedIn: true,
  person: personOf(session),
  name: session.tokens.name ?? null,
  practices: [...caller.organisations]
    .map(([alias, roles]) => ({ alias, isAdmin: roles.has("org-admin") }))
    .toSorted((a, b) => compare(a.alias, b.alias)),
  vendors: [...caller.vendors].toSorted(compare),
  roles: [...caller.roles].toSorted(compare),
  endsAt: endOf(session, limits).toISOString(),
});
