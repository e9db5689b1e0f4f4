import { forbidden } from "@ehr-marketplace/service-kit/http";
import { type Caller, findRoleForOrganisation, type Role } from "@ehr-marketplace/service-kit/tokens";

/** Throws 403 for another organisation whether or not it exists, so that callers can't discover aliases. */
export function requireRole(caller: Caller, alias: string, roles: readonly Role[]): Role {
  const role = findRoleForOrganisation(caller, alias, roles);
  if (role !== undefined) return role;
  throw forbidden(
    caller,
    `This requires the role ${roles.join(" or ")} for the organisation ${JSON.stringify(alias)}.`,
  );
}
