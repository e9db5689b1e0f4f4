import type { JWTPayload } from "jose";
import { type Caller, type OrganisationRole, type Role, roles } from "./caller.ts";

/** Where the issuer's tokens have each value: a claim's name, or a path of names joined by dots. */
export interface ClaimPaths {
  organisation: string;
  vendor: string;
  roles: string;
}

/** Looks up the whole path as a name first, because claim names such as `https://example.com/roles` contain dots. */
function getValue(claims: object, path: string): unknown {
  if (Object.hasOwn(claims, path)) return (claims as Record<string, unknown>)[path];
  let value: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Returns the non-empty strings of a claim. */
function parseNames(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((each): each is string => typeof each === "string" && each !== "");
}

const isRole = (name: string): name is Role => (roles as readonly string[]).includes(name);
const isOrganisationRole = (name: string): name is OrganisationRole => name === "org-admin" || name === "org-member";

/** Parses a list of organisations, or Keycloak's object keyed by organisation, which may contain the roles in each. */
function parseOrganisations(claim: unknown): Map<string, Set<OrganisationRole>> {
  if (typeof claim !== "object" || claim === null || Array.isArray(claim)) {
    return new Map(parseNames(claim).map((alias) => [alias, new Set()]));
  }
  const named = Object.entries(claim).filter(([alias]) => alias !== "");
  return new Map(
    named.map(([alias, about]: [string, unknown]) => {
      const held = typeof about === "object" && about !== null ? getValue(about, "roles") : undefined;
      return [alias, new Set(parseNames(held).filter(isOrganisationRole))];
    }),
  );
}

/** An organisation role without an organisation counts only if the token names exactly one organisation. */
export function buildCaller(claims: JWTPayload & { iss: string; sub: string }, paths: ClaimPaths): Caller {
  const organisations = parseOrganisations(getValue(claims, paths.organisation));
  const vendors = new Set(parseNames(getValue(claims, paths.vendor)));
  const roleNames = parseNames(getValue(claims, paths.roles));
  const claimedRoles = new Set(roleNames.filter(isRole));
  const ignoredRoleReasons: string[] = [];
  const globalRoles = new Set<Role>();
  for (const role of claimedRoles) {
    if (isOrganisationRole(role)) {
      const [only] = organisations.values();
      if (only !== undefined && organisations.size === 1) only.add(role);
      else ignoredRoleReasons.push(describeIgnoredRole(role, organisations.size, paths.organisation));
    } else if (role === "vendor-developer" && vendors.size === 0) {
      ignoredRoleReasons.push("The token's role vendor-developer is ignored, because the token names no vendor.");
    } else {
      globalRoles.add(role);
    }
  }
  const hasOrganisationRole = organisations.values().some((held) => held.size > 0);
  if (claimedRoles.size === 0 && !hasOrganisationRole) {
    ignoredRoleReasons.push(describeMissingRoles(roleNames.length, paths.roles));
  }
  return { issuer: claims.iss, subject: claims.sub, roles: globalRoles, organisations, vendors, ignoredRoleReasons };
}

function describeMissingRoles(names: number, path: string): string {
  if (names === 0) return `No roles found in claim \`${path}\`.`;
  return `None of the roles found in claim \`${path}\` is one of: ${roles.join(", ")}.`;
}

function describeIgnoredRole(role: OrganisationRole, organisations: number, path: string): string {
  if (organisations === 0) return `The token's role ${role} is ignored, because the token names no organisation.`;
  return (
    `The token's role ${role} is ignored, because the token names ${organisations} organisations and doesn't assign the ` +
    `role to one of them; put the roles of an organisation into ${path}.<alias>.roles.`
  );
}
