import assert from "node:assert/strict";
import { test } from "node:test";
import { noNulPattern, orgAliasPattern, slugPattern } from "@ehr-marketplace/contracts";
import type { FastifySchemaValidationError } from "fastify";
import { describeErrors } from "./invalid-request.ts";
import { createStrictAjv } from "./strict-ajv.ts";

/** The details of the errors of a value, whose schema is that of a field. */
function describe(schema: object, value: unknown): string[] {
  const validate = createStrictAjv({ allErrors: true, verbose: true, strictTypes: false }).compile({
    properties: { field: schema },
  });
  assert.equal(validate({ field: value }), false);
  return describeErrors("body", validate.errors as FastifySchemaValidationError[]).map(({ detail }) => detail);
}

const secret = "patient-4711";

for (const [schema, value, detail] of [
  [{ type: "string", minLength: 30 }, secret, "must have at least 30 characters"],
  [{ type: "string", maxLength: 1 }, secret, "must have at most 1 character"],
  [
    { type: "string", pattern: slugPattern },
    `${secret}-`,
    "must be lower-case letters and digits with single hyphens, such as northwind-health",
  ],
  [
    { type: "string", pattern: orgAliasPattern },
    `-${secret}`,
    "must be 1 to 64 letters, digits, dots, hyphens and underscores, and begin with a letter or digit",
  ],
  [{ type: "string", pattern: noNulPattern }, `${secret}\0`, "must not contain the character NUL (U+0000)"],
  [{ type: "string", pattern: "^[A-Z]$" }, secret, "has characters or a form that isn't accepted"],
  [
    { type: "string", pattern: "^[A-Z]$", "x-error-message": "must be a capital letter" },
    secret,
    "must be a capital letter",
  ],
  [{ type: "string", format: "hostname" }, `${secret}.`.repeat(30), "must be a valid hostname"],
  [{ type: "number", exclusiveMinimum: 0 }, 0, "must be more than 0"],
  [{ type: "number", exclusiveMaximum: 9 }, 9, "must be less than 9"],
  [{ type: "number", multipleOf: 0.5 }, 0.3, "must be a multiple of 0.5"],
  [{ type: "array", uniqueItems: true }, [secret, secret], "must not have the same item twice"],
  [{ type: "object", maxProperties: 1 }, { a: 1, b: secret }, "must have at most 1 field"],
  [{ oneOf: [{ const: 1 }] }, secret, "must be 1; has none of the accepted forms"],
  [{ anyOf: [{ type: "number" }, { type: "null" }] }, secret, "must be a number, or null"],
  [{ type: "null" }, secret, "must be null"],
  [{ not: { type: "string" } }, secret, "is invalid"],
] as const) {
  test(`a violated ${Object.keys(schema).at(-1)} is described in plain words, without the value: ${detail}`, () => {
    assert.equal(describe(schema, value).join("; "), detail);
  });
}
