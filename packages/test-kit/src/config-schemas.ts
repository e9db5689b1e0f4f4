import type { ConfigSchema, JsonObject } from "@ehr-marketplace/config-schema";
import fc from "fast-check";

export interface SchemaAndConfig {
  schema: ConfigSchema;
  config: JsonObject;
}

/** Property names that need escaping or exist on `Object.prototype`. */
const names = fc.constantFrom("a", "b", "c", "", "a/b", "~1", "é", "toString", "constructor");

const patterns = fc.constantFrom("^[a-c]+$", "a.c", "^\\s*$", "^(?:a|bb)*$", "\\S{2,4}", "[^\\s\\d]", "^.$", "\\bab?");
const texts = fc
  .oneof(
    fc.array(fc.constantFrom("a", "b", "c", "1", " ", "\n", "\r", "\u00a0", "\u2028", "😀", "é"), { maxLength: 6 }),
    fc
      .constantFrom("2026-02-30", "10:00:00Z", "2026-02-28T10:00:00Z", "P1D", "a@b.example", "b.example", "::1")
      .map((text) => [text]),
    fc.constantFrom("127.0.0.1", "https://b.example/", "550e8400-e29b-41d4-a716-446655440000").map((text) => [text]),
  )
  .map((parts) => parts.join(""));
const numbers = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(0.5, -0, 1e300, -1.5));

const optional = <T>(keyword: string, value: fc.Arbitrary<T>): fc.Arbitrary<JsonObject> =>
  fc.option(value, { nil: undefined }).map((given) => (given === undefined ? {} : { [keyword]: given }));
const merged = (...parts: fc.Arbitrary<JsonObject>[]): fc.Arbitrary<JsonObject> =>
  fc.tuple(...parts).map((each) => Object.assign({}, ...each) as JsonObject);

const scalar: fc.Arbitrary<ConfigSchema> = fc
  .oneof(
    merged(
      fc.constant({ type: "string" }),
      optional("minLength", fc.nat(3)),
      optional("maxLength", fc.nat(6)),
      optional("pattern", patterns),
      optional(
        "format",
        fc.constantFrom("date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"),
      ),
      optional("enum", fc.array(texts, { minLength: 1, maxLength: 4 })),
    ),
    merged(
      fc.record({ type: fc.constantFrom("number", "integer") }),
      optional("minimum", numbers),
      optional("maximum", numbers),
      optional("const", numbers),
    ),
    merged(fc.constant({ type: "boolean" }), optional("const", fc.boolean())),
  )
  .map((schema) => schema as ConfigSchema);

const array: fc.Arbitrary<ConfigSchema> = merged(
  fc.record({ type: fc.constant("array"), items: scalar }),
  optional("minItems", fc.nat(2)),
  fc.oneof(
    optional("maxItems", fc.nat(3)),
    fc.record({ uniqueItems: fc.constant(true), maxItems: fc.integer({ min: 1, max: 100 }) }),
  ),
).map((schema) => schema as ConfigSchema);

const objectOf = (property: fc.Arbitrary<ConfigSchema>): fc.Arbitrary<ConfigSchema> =>
  merged(
    fc.record({ type: fc.constant("object"), properties: fc.dictionary(names, property, { maxKeys: 4 }) }),
    optional("required", fc.uniqueArray(names, { maxLength: 2 })),
    optional("additionalProperties", fc.boolean()),
  ).map((schema) => schema as ConfigSchema);

const property = fc.oneof({ weight: 4, arbitrary: scalar }, { weight: 1, arbitrary: array });
const constrained = objectOf(fc.oneof(property, objectOf(fc.oneof(property, objectOf(property)))));

/** Values that often have the right type, and sometimes satisfy the rest of the schema. */
function valueFor(schema: ConfigSchema): fc.Arbitrary<unknown> {
  const { enum: listed, items, properties } = schema;
  const right: Record<ConfigSchema["type"], () => fc.Arbitrary<unknown>> = {
    string: () => (listed === undefined ? texts : fc.oneof(texts, fc.constantFrom(...listed))),
    number: () => numbers,
    integer: () => numbers,
    boolean: () => fc.boolean(),
    array: () => fc.array(items === undefined ? fc.nat() : valueFor(items), { maxLength: 4 }),
    object: () => configFor(properties ?? {}),
  };
  return fc.oneof(
    { weight: 12, arbitrary: right[schema.type]() },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  );
}

function configFor(properties: Record<string, ConfigSchema>): fc.Arbitrary<JsonObject> {
  const known = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, valueFor(each)]));
  const unknown = fc.dictionary(names, fc.nat(), { maxKeys: 1 });
  return fc
    .tuple(
      fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: unknown }),
      fc.record(known, { requiredKeys: [] }),
    )
    .map(([more, given]) => ({ ...more, ...given }));
}

/** Any schema of the profile, with a configuration that can be valid or invalid. */
export const schemaAndConfig: fc.Arbitrary<SchemaAndConfig> = constrained.chain((schema) =>
  configFor(schema.properties ?? {}).map((config) => ({ schema, config })),
);

const withOptionalWriteOnly = (arbitrary: fc.Arbitrary<ConfigSchema>): fc.Arbitrary<ConfigSchema> =>
  fc.tuple(arbitrary, fc.boolean()).map(([schema, writeOnly]) => (writeOnly ? { ...schema, writeOnly } : schema));
const text: fc.Arbitrary<ConfigSchema> = fc.constant({ type: "string" });
const markedText = withOptionalWriteOnly(
  fc.oneof(text, fc.constant<ConfigSchema>({ type: "array", items: { type: "string" } })),
);
const freeObject = (of: fc.Arbitrary<ConfigSchema>): fc.Arbitrary<ConfigSchema> =>
  fc.dictionary(names, of, { maxKeys: 4 }).map((properties) => ({ type: "object", properties }));
const withSecrets = freeObject(
  fc.oneof(
    markedText,
    withOptionalWriteOnly(freeObject(fc.oneof(markedText, withOptionalWriteOnly(freeObject(markedText))))),
  ),
);

/** A schema with secrets and a valid configuration in which every string is unique. */
export const secretsAndConfig: fc.Arbitrary<SchemaAndConfig> = withSecrets.chain((schema) =>
  fc.infiniteStream(fc.nat(9)).map((choices) => {
    let count = 0;
    const token = (): string => `<${(count += 1)}>`;
    const choose = (): number => choices.next().value ?? 0;
    const fill = ({ type, properties = {} }: ConfigSchema): unknown => {
      if (type === "array") return Array.from({ length: choose() % 3 }, token);
      if (type !== "object") return token();
      const present = Object.entries(properties).filter(() => choose() > 1);
      const more = choose() === 0 ? [["another", { of: token() }]] : [];
      return Object.fromEntries([...present.map(([name, each]) => [name, fill(each)]), ...more]) as unknown;
    };
    return { schema, config: fill(schema) as JsonObject };
  }),
);

/** Separates the strings of a configuration into those under a `writeOnly` schema and all others. */
export function collectTexts({ schema, config }: SchemaAndConfig): { secret: string[]; open: string[] } {
  const found = { secret: [] as string[], open: [] as string[] };
  const walk = (value: unknown, at: ConfigSchema | undefined, isSecret: boolean): void => {
    if (typeof value === "string") found[isSecret ? "secret" : "open"].push(value);
    if (typeof value !== "object" || value === null) return;
    for (const [name, part] of Object.entries(value)) {
      const properties = at?.properties ?? {};
      const below = Object.hasOwn(properties, name) ? properties[name] : undefined;
      walk(part, below, isSecret || below?.writeOnly === true);
    }
  };
  walk(config, schema, false);
  return found;
}
