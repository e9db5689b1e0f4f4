import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const url = new URL("../../deploy/keycloak/marketplace-realm.json", import.meta.url);

test("the realm for Keycloak has no secret and no person, and the variables that the guide names", async () => {
  const text = await readFile(url, "utf8");
  assert.doesNotMatch(text, /"(secret|password|credentials|value|privateKey)"/);
  const { users } = JSON.parse(text) as { users: { username: string }[] };
  assert.deepEqual(
    users.map(({ username }) => username),
    ["service-account-ehr-service"],
  );
  const guide = await readFile(new URL("../../docs/guides/identity-providers.md", import.meta.url), "utf8");
  const variables = new Set([...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name = ""]) => name));
  assert.deepEqual([...variables].toSorted(), ["MARKETPLACE_REALM", "MARKETPLACE_WEB_URL"]);
  for (const name of variables) assert.ok(guide.includes(name), name);
});
