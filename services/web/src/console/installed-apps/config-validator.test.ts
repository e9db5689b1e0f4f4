import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ConfigSchema } from "@ehr-marketplace/config-schema";
import type { RJSFSchema } from "@rjsf/utils";
import { configValidator, findProblems } from "./config-validator.ts";

const schema: ConfigSchema = {
  type: "object",
  required: ["apiKey", "region"],
  properties: {
    apiKey: { type: "string", writeOnly: true, minLength: 16 },
    region: { type: "string", enum: ["us", "eu"] },
    limits: { type: "object", properties: { daily: { type: "integer", minimum: 1 } } },
  },
};

describe("settings of an app", () => {
  test("are valid with a secret that keeps its stored value", () => {
    assert.deepEqual(findProblems(schema, { apiKey: null, region: "us" }), []);
  });

  test("are invalid without a required secret, and with one that is too short", () => {
    const codes = (apiKey: object) => findProblems(schema, { region: "us", ...apiKey }).map(({ code }) => code);
    assert.deepEqual([codes({}), codes({ apiKey: "short" })], [["required"], ["minLength"]]);
  });

  test("have their errors at the fields that they concern", () => {
    const config = { apiKey: null, region: "mars", limits: { daily: 0 } };
    const { errorSchema, errors } = configValidator.validateFormData(config, schema as unknown as RJSFSchema);
    assert.deepEqual(structuredClone(errorSchema), {
      region: { __errors: ["must be one of: us, eu"] },
      limits: { daily: { __errors: ["must be at least 1"] } },
    });
    assert.equal(errors.length, 2);
  });
});
