export const roles = [
  "operator",
  "billing",
  "auditor",
  "org-admin",
  "org-member",
  "vendor-developer",
  "ehr-service",
  "launch-redeemer",
] as const;
export type Role = (typeof roles)[number];

/** Roles of the marketplace's staff, which apply to every organisation. */
const staffRoles: ReadonlySet<Role> = new Set(["operator", "billing", "auditor"]);

export type OrganisationRole = "org-admin" | "org-member";

/** The sender of a request and its roles, created from a verified token. */
export interface Caller {
  readonly issuer: string;
  readonly subject: string;
  /** Roles that don't belong to one organisation. */
  readonly roles: ReadonlySet<Role>;
  /** The organisations that the token names, each with the caller's roles in it. */
  readonly organisations: ReadonlyMap<string, ReadonlySet<OrganisationRole>>;
  readonly vendors: ReadonlySet<string>;
  /** Why roles of the token are ignored, or where it should have some; appended to the detail of a 403. */
  readonly ignoredRoleReasons: readonly string[];
}

export function hasRole(caller: Caller, role: Role): boolean {
  if (role !== "org-admin" && role !== "org-member") return caller.roles.has(role);
  return caller.organisations.values().some((held) => held.has(role));
}

export function hasRoleInOrganisation(caller: Caller, alias: string, role: OrganisationRole): boolean {
  return caller.organisations.get(alias)?.has(role) === true;
}

/** Returns the first of these roles that the caller has for this organisation. */
export function findRoleForOrganisation(caller: Caller, alias: string, required: readonly Role[]): Role | undefined {
  return required.find((role) => {
    if (role === "org-admin" || role === "org-member") return hasRoleInOrganisation(caller, alias, role);
    if (role === "ehr-service") return caller.roles.has(role) && caller.organisations.has(alias);
    return staffRoles.has(role) && caller.roles.has(role);
  });
}
