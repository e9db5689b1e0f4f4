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

/** The marketplace's own people: their roles hold for every organisation. */
const staffRoles: ReadonlySet<Role> = new Set(["operator", "billing", "auditor"]);

export type OrganisationRole = "org-admin" | "org-member";

/** Who sends a request, and as what: made once from a verified token, and handed on as an argument. */
export interface Caller {
  readonly issuer: string;
  readonly subject: string;
  /** Roles that don't belong to one organisation. */
  readonly roles: ReadonlySet<Role>;
  /** The organisations that the token names, each with the caller's roles in it. */
  readonly organisations: ReadonlyMap<string, ReadonlySet<OrganisationRole>>;
  readonly vendors: ReadonlySet<string>;
  /** Why a role that the token does carry is not counted; a caller who is refused wants to know. */
  readonly uncounted: readonly string[];
}

export function holds(caller: Caller, role: Role): boolean {
  if (role !== "org-admin" && role !== "org-member") return caller.roles.has(role);
  return caller.organisations.values().some((held) => held.has(role));
}

export function holdsIn(caller: Caller, alias: string, role: OrganisationRole): boolean {
  return caller.organisations.get(alias)?.has(role) === true;
}

/** The first of these roles that the caller has where this organisation is concerned. */
export function roleFor(caller: Caller, alias: string, asked: readonly Role[]): Role | undefined {
  return asked.find((role) => {
    if (role === "org-admin" || role === "org-member") return holdsIn(caller, alias, role);
    if (role === "ehr-service") return caller.roles.has(role) && caller.organisations.has(alias);
    return staffRoles.has(role) && caller.roles.has(role);
  });
}
