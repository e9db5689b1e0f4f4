import { Problem } from "@ehr-marketplace/service-kit/http";
import { type Caller, findRoleForOrganisation } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { sandboxProblems } from "./sandbox-errors.ts";
import { findSandboxApp } from "./sandbox-store.ts";

/** Throws 404 unless the caller may read the app. */
export async function requireSandboxApp(database: Kysely<DB>, caller: Caller, slug: string): Promise<void> {
  await getSandboxApp(database, caller, slug);
}

/** Returns the app as JSON. All who may not read it get the same response as if it didn't exist. */
export async function getSandboxApp(database: Kysely<DB>, caller: Caller, slug: string): Promise<string> {
  const found = await findSandboxApp(database, slug);
  const mayRead =
    found !== undefined &&
    (caller.roles.has("operator") ||
      (caller.roles.has("vendor-developer") && caller.vendors.has(found.vendor)) ||
      found.organisations.some((alias) => findRoleForOrganisation(caller, alias, ["ehr-service"]) !== undefined));
  if (!mayRead) throw new Problem(sandboxProblems.notFound, "No sandbox app of yours has that slug.");
  return found.dto;
}
