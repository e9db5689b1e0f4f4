import { callerOf, forbidden } from "@ehr-marketplace/service-kit/http";
import { type Caller, type Role, roleFor } from "@ehr-marketplace/service-kit/tokens";
import type { FastifyRequest } from "fastify";

/** The organisation that a request is about: the token's, or the one of several that `X-Org-Alias` names. */
export function actingOrganisation(request: FastifyRequest, roles: readonly Role[]): string {
  const caller = callerOf(request);
  const named = request.headers["x-org-alias"];
  if (Array.isArray(named)) throw forbidden(caller, "X-Org-Alias is given more than once.");
  const alias = named === undefined || named === "" ? onlyOne(caller) : named;
  if (roleFor(caller, alias, roles) !== undefined) return alias;
  throw forbidden(caller, `This needs the role ${roles.join(" or ")} for the organisation.`);
}

function onlyOne(caller: Caller): string {
  const [only, ...others] = caller.organisations.keys();
  if (only !== undefined && others.length === 0) return only;
  throw forbidden(
    caller,
    `The token names ${caller.organisations.size} organisations; say in X-Org-Alias for which one you act.`,
  );
}
