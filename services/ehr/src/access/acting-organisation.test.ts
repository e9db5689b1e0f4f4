import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Caller, OrganisationRole, Role } from "@ehr-marketplace/service-kit/tokens";
import type { FastifyRequest } from "fastify";
import { actingOrganisation } from "./acting-organisation.ts";

const readers: Role[] = ["org-member", "org-admin", "ehr-service", "operator"];

function requestOf(given: { in?: Record<string, OrganisationRole[]>; roles?: Role[] }, named?: string): FastifyRequest {
  const caller: Caller = {
    issuer: "https://id.example",
    subject: "someone",
    roles: new Set(given.roles),
    organisations: new Map(Object.entries(given.in ?? {}).map(([alias, roles]) => [alias, new Set(roles)])),
    vendors: new Set(),
    ignoredRoleReasons: [],
  };
  const headers = named === undefined ? {} : { "x-org-alias": named };
  return { caller, headers, routeOptions: {} } as unknown as FastifyRequest;
}

describe("the acting organisation", () => {
  const two = { in: { here: ["org-admin"], there: ["org-member"] } } as const satisfies Parameters<typeof requestOf>[0];
  for (const [what, request, alias] of [
    ["the only one that the token names", requestOf({ in: { here: ["org-member"] } }), "here"],
    ["the only one, where the header names nothing", requestOf({ in: { here: ["org-member"] } }, ""), "here"],
    ["the one of two that the header names", requestOf({ in: { here: [], there: ["org-member"] } }, "there"), "there"],
    ["any that an operator names", requestOf({ roles: ["operator"] }, "anywhere"), "anywhere"],
    ["one of the EHR's own", requestOf({ roles: ["ehr-service"], in: { here: [], there: [] } }, "there"), "there"],
  ] as const) {
    test(`is ${what}`, () => assert.equal(actingOrganisation(request, readers), alias));
  }

  for (const [what, request, roles, words] of [
    ["none without organisations in the token", requestOf({}), readers, /names no organisation\.$/],
    ["none for an operator, where operators may not", requestOf({ roles: ["operator"] }), ["org-admin"], /names no/],
    ["none that the token doesn't name", requestOf(two, "elsewhere"), readers, /needs the role/],
    ["none in which the caller has another role", requestOf(two, "there"), ["org-admin"], /needs the role org-admin/],
    ["none that an EHR doesn't serve", requestOf({ roles: ["ehr-service"] }, "here"), readers, /needs the role/],
    [
      "none, for a role of the marketplace's staff",
      requestOf({ roles: ["billing"] }, "here"),
      readers,
      /needs the role/,
    ],
  ] as const) {
    test(`is ${what}`, () => {
      assert.throws(
        () => actingOrganisation(request, roles),
        (error) => error instanceof Problem && error.kind.status === 403 && words.test(error.message),
      );
    });
  }

  for (const [what, request, words] of [
    ["of two", requestOf(two), /^The token names 2 organisations; name one of them in X-Org-Alias\.$/],
    [
      "of all, for an operator",
      requestOf({ roles: ["operator"] }, ""),
      /^The token names no organisation; name one in X-Org-Alias\.$/,
    ],
  ] as const) {
    test(`is asked for with 400 where none ${what} is named`, () => {
      assert.throws(
        () => actingOrganisation(request, readers),
        (error) => error instanceof Problem && error.kind.status === 400 && words.test(error.message),
      );
    });
  }
});
