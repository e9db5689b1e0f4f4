import { forbidden, getCaller, Problem, standardProblems } from "@ehr-marketplace/service-kit/http";
import { type Caller, findRoleForOrganisation, type Role } from "@ehr-marketplace/service-kit/tokens";
import type { FastifyRequest } from "fastify";

/** The organisation that a request is about: the token's, or the one of several that `X-Org-Alias` names. */
export function actingOrganisation(request: FastifyRequest, roles: readonly Role[]): string {
  const caller = getCaller(request);
  const header = request.headers["x-org-alias"];
  if (Array.isArray(header)) throw forbidden(caller, "X-Org-Alias is given more than once.");
  const alias = header === undefined || header === "" ? onlyOrganisation(caller, roles) : header;
  if (findRoleForOrganisation(caller, alias, roles) !== undefined) return alias;
  throw forbidden(caller, `The request needs the role ${roles.join(" or ")} for the organisation.`);
}

function onlyOrganisation(caller: Caller, roles: readonly Role[]): string {
  const [only, ...others] = caller.organisations.keys();
  if (only !== undefined && others.length === 0) return only;
  const canNameAny = roles.includes("operator") && caller.roles.has("operator");
  if (only === undefined && !canNameAny) throw forbidden(caller, "The token names no organisation.");
  // Not 403, because the caller may do this as soon as the request says for whom.
  const named =
    only === undefined ? "no organisation; name one" : `${caller.organisations.size} organisations; name one of them`;
  throw new Problem(standardProblems.invalidRequest, `The token names ${named} in X-Org-Alias.`);
}

/** The header that `actingOrganisation` reads, for the API reference. */
export const organisationHeader = {
  type: "object",
  properties: {
    "x-org-alias": {
      type: "string",
      maxLength: 64,
      description: "For callers in several organisations: the one they act for",
    },
  },
} as const;
