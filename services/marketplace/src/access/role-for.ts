import { forbidden } from "@ehr-marketplace/service-kit/http";
import { type Caller, holdsIn, type Role } from "@ehr-marketplace/service-kit/tokens";

/** Who asks, and in which request: what every use case that writes is told. */
export interface Asked {
  caller: Caller;
  requestId: string;
}

/** The first of these roles that the caller has where this organisation is concerned. */
export function roleFor(caller: Caller, alias: string, roles: readonly Role[]): Role | undefined {
  return roles.find((role) => {
    if (role === "org-admin" || role === "org-member") return holdsIn(caller, alias, role);
    if (role === "ehr-service") return caller.roles.has(role) && caller.organisations.has(alias);
    return role !== "vendor-developer" && caller.roles.has(role);
  });
}

/** An organisation that isn't the caller's is refused whether or not it exists: nobody learns which do. */
export function requireRole(caller: Caller, alias: string, roles: readonly Role[]): Role {
  const role = roleFor(caller, alias, roles);
  if (role !== undefined) return role;
  throw forbidden(caller, `This needs the role ${roles.join(" or ")} for the organisation that is named.`);
}
