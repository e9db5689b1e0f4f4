import assert from "node:assert/strict";
import { test } from "node:test";
import { checkSchema } from "@ehr-marketplace/config-schema";
import { demoApps } from "./apps.ts";

test("every configuration schema of the demo data is within the profile", () => {
  const schemas = demoApps("http://127.0.0.1:1").filter(({ configSchema }) => configSchema !== null);
  assert.ok(schemas.length > 10);
  for (const { slug, configSchema } of schemas) assert.deepEqual(checkSchema(configSchema), [], slug);
});
