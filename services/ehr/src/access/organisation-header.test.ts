import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";

interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, { parameters?: { in: string; name: string }[] }>>;
}

const ofOrganisations = ["org-admin", "org-member", "ehr-service"] as const;

test("every operation for an organisation's people and its EHR documents X-Org-Alias, and no other does", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "ehr");
  const { server, url } = await startEhr(cleanUp, serviceUrl);
  const { servers, paths } = (await (await fetch(`${url}/api/openapi.json`)).json()) as Document;
  const base = servers[0]?.url ?? "";
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { parameters = [] }]) =>
        parameters.some((each) => each.in === "header" && each.name === "x-org-alias"),
      )
      .map(([method]) => `${method.toUpperCase()} ${base}${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
  );
  const needed = server.routesAndAccess
    .filter(({ method, access }) => method !== "HEAD" && ofOrganisations.some((role) => access.includes(role)))
    .map(({ method, url: path }) => `${method} ${path}`);
  assert.ok(needed.length >= 7);
  assert.deepEqual(documented.toSorted(), needed.toSorted());
});
