import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { describeErrors } from "@ehr-marketplace/service-kit/http";

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

interface Schema {
  [keyword: string]: unknown;
}

/** Every schema in a request of the document, with the operation. */
function* requestSchemas(document: object): Generator<[operation: string, schema: Schema]> {
  const { paths, components } = document as {
    paths: Record<
      string,
      Record<string, { operationId: string; parameters?: { schema: Schema }[]; requestBody?: object }>
    >;
    components: { schemas: Record<string, Schema> };
  };
  const within = function* (value: unknown, seen: Set<unknown>): Generator<Schema> {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    const { $ref } = value as { $ref?: unknown };
    if (typeof $ref === "string") yield* within(components.schemas[$ref.split("/").at(-1) ?? ""], seen);
    if (!Array.isArray(value)) yield value as Schema;
    for (const each of Object.values(value)) yield* within(each, seen);
  };
  for (const { operationId, parameters = [], requestBody } of Object.values(paths).flatMap((path) =>
    Object.values(path),
  )) {
    for (const schema of within([parameters.map((each) => each.schema), requestBody], new Set()))
      yield [operationId, schema];
  }
}

for (const service of ["marketplace", "ehr"] as const) {
  test(`every pattern of the ${service}'s requests has an error message that says what to send`, async () => {
    const file = new URL(`../../services/${service}/openapi.json`, import.meta.url);
    let patterns = 0;
    for (const [operation, schema] of requestSchemas(JSON.parse(await readFile(file, "utf8")) as object)) {
      const { pattern } = schema;
      // requireIfMatch refuses other values of If-Match before.
      if (typeof pattern !== "string" || pattern.startsWith("^(W/)?")) continue;
      patterns += 1;
      const error = { keyword: "pattern", params: { pattern }, instancePath: "", schemaPath: "", parentSchema: schema };
      const [{ detail } = { detail: "" }] = describeErrors("body", [error]);
      assert.match(detail, /^must /, `${operation}: ${pattern}: ${detail}`);
    }
    assert.ok(patterns >= 20);
  });
}
