import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

type Responses = Record<string, { description: string } | undefined>;
interface Document {
  paths: Record<string, Record<string, { operationId: string; responses: Responses }>>;
}

/** Returns each operation's description of one status. CI checks that the documents are up to date. */
async function describedAs(service: "marketplace" | "ehr", status: number): Promise<Map<string, string>> {
  const file = new URL(`../../services/${service}/openapi.json`, import.meta.url);
  const { paths } = JSON.parse(await readFile(file, "utf8")) as Document;
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  return new Map(
    operations.flatMap(({ operationId, responses }) => {
      const description = responses[status]?.description;
      return description === undefined ? [] : [[operationId, description]];
    }),
  );
}

for (const service of ["marketplace", "ehr"] as const) {
  test(`every 422 of the ${service}'s document names its causes on that route`, async () => {
    const described = await describedAs(service, 422);
    assert.ok(described.size >= 3);
    for (const [operation, description] of described) {
      assert.doesNotMatch(description, /^Well-formed, but/, operation);
    }
  });
}

test("the EHR's 503 descriptions mention the marketplace for exactly the operations that call it", async () => {
  const described = await describedAs("ehr", 503);
  const naming = [...described].filter(([, description]) => /the marketplace can't be reached/i.test(description));
  assert.deepEqual(naming.map(([operation]) => operation).toSorted(), [
    "launchApp",
    "putConfig",
    "readConfig",
    "reconcile",
  ]);
});

test("the EHR's webhook receiver documents refused signatures, the limit on subscriptions and the limit on refusals", async () => {
  const of = async (status: number): Promise<string> => (await describedAs("ehr", status)).get("receiveEvent") ?? "";
  assert.match(await of(401), /signature doesn't match/);
  assert.match(await of(422), /too many subscriptions, or the subscription is stored with another app/);
  assert.match(await of(429), /invalid signatures from this address/);
});
