import { forbidden } from "@ehr-marketplace/service-kit/http";
import { type Caller, type Role, roleFor } from "@ehr-marketplace/service-kit/tokens";

/** Who asks, and in which request: what every use case that writes is told. */
export interface Asked {
  caller: Caller;
  requestId: string;
}

/** An organisation that isn't the caller's is refused whether or not it exists: nobody learns which do. */
export function requireRole(caller: Caller, alias: string, roles: readonly Role[]): Role {
  const role = roleFor(caller, alias, roles);
  if (role !== undefined) return role;
  throw forbidden(caller, `This needs the role ${roles.join(" or ")} for the organisation that is named.`);
}
