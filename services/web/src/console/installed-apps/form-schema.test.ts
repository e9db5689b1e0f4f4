import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ConfigSchema, checkSchema } from "@ehr-marketplace/config-schema";
import { createUiSchema, hasForm } from "./form-schema.ts";

const objectOf = (properties: Record<string, ConfigSchema>): ConfigSchema => ({ type: "object", properties });
const secret: ConfigSchema = { type: "string", writeOnly: true };
const list: ConfigSchema = { type: "array", items: { type: "integer" } };

describe("a form of a vendor's schema", () => {
  test("has fields for secrets, whatever their names and wherever they are", () => {
    const schema = objectOf({ "api/key~": secret, port: { type: "integer" }, account: objectOf({ pin: secret }) });
    assert.deepEqual(createUiSchema(schema), {
      "api/key~": { "ui:widget": "SecretWidget" },
      port: {},
      account: { pin: { "ui:widget": "SecretWidget" } },
      "ui:submitButtonOptions": { norender: true },
      "ui:title": "",
    });
  });

  const hostile: [string, ConfigSchema][] = [
    ["changes what all objects have", objectOf({ constructor: objectOf({ prototype: objectOf({ body: secret }) }) })],
    ["sets a prototype", objectOf(JSON.parse('{"__proto__": {"type": "string"}}') as Record<string, ConfigSchema>)],
    ["begins with very many fields", objectOf({ list: { ...list, minItems: 1_000_000 } })],
    ["has very many values by default", objectOf({ list: { ...list, default: Array(16_000).fill(0) } })],
    ["has a secret that isn't one text", objectOf({ credentials: { ...objectOf({ user: secret }), writeOnly: true } })],
  ];
  for (const [what, schema] of hostile) {
    test(`isn't made if it ${what}, although the profile allows it`, () => {
      assert.deepEqual(checkSchema(schema), []);
      assert.equal(hasForm(objectOf({ nested: schema })), false);
      assert.equal(hasForm(schema), false);
    });
  }

  test("is made of what vendors usually have", () => {
    const schema = objectOf({ note: { type: "string" }, list: { ...list, minItems: 2, default: [1, 2] }, key: secret });
    assert.equal(hasForm(schema), true);
  });
});
