import type { JWTPayload } from "jose";
import { type Caller, type OrganisationRole, type Role, roles } from "./caller.ts";

/** Where a token of the configured issuer says what: a claim's name, or a path of names joined by dots. */
export interface ClaimPaths {
  organisation: string;
  vendor: string;
  roles: string;
}

/** A whole name is looked up first: names such as `https://example.com/roles`, which some issuers insist on, have dots. */
function valueAt(claims: object, path: string): unknown {
  if (Object.hasOwn(claims, path)) return (claims as Record<string, unknown>)[path];
  let value: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** An empty text names nothing. */
function names(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((each): each is string => typeof each === "string" && each !== "");
}

const isRole = (name: string): name is Role => (roles as readonly string[]).includes(name);
const isOrganisationRole = (name: string): name is OrganisationRole => name === "org-admin" || name === "org-member";

/** Names of organisations, or an object keyed by them, as Keycloak writes it, which may hold the roles in each. */
function organisationsOf(claim: unknown): Map<string, Set<OrganisationRole>> {
  if (typeof claim !== "object" || claim === null || Array.isArray(claim)) {
    return new Map(names(claim).map((alias) => [alias, new Set()]));
  }
  const named = Object.entries(claim).filter(([alias]) => alias !== "");
  return new Map(
    named.map(([alias, about]: [string, unknown]) => {
      const held = typeof about === "object" && about !== null ? valueAt(about, "roles") : undefined;
      return [alias, new Set(names(held).filter(isOrganisationRole))];
    }),
  );
}

/** A role that says nothing about where it holds is believed only where there is no choice. */
export function callerFrom(claims: JWTPayload & { iss: string; sub: string }, paths: ClaimPaths): Caller {
  const organisations = organisationsOf(valueAt(claims, paths.organisation));
  const vendors = new Set(names(valueAt(claims, paths.vendor)));
  const flat = new Set(names(valueAt(claims, paths.roles)).filter(isRole));
  const uncounted: string[] = [];
  const counted = new Set<Role>();
  for (const role of flat) {
    if (isOrganisationRole(role)) {
      const [only] = organisations.values();
      if (only !== undefined && organisations.size === 1) only.add(role);
      else uncounted.push(whyUncounted(role, organisations.size, paths.organisation));
    } else if (role === "vendor-developer" && vendors.size === 0) {
      uncounted.push("The token's role vendor-developer isn't counted, because the token names no vendor.");
    } else {
      counted.add(role);
    }
  }
  return { issuer: claims.iss, subject: claims.sub, roles: counted, organisations, vendors, uncounted };
}

function whyUncounted(role: OrganisationRole, organisations: number, path: string): string {
  if (organisations === 0) return `The token's role ${role} isn't counted, because the token names no organisation.`;
  return (
    `The token's role ${role} isn't counted, because the token names ${organisations} organisations and doesn't say in ` +
    `which of them it holds; roles of one organisation belong into ${path}.<alias>.roles.`
  );
}
