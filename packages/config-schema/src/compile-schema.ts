import { canonicalJson, escapeName, isNestedTooDeep, isObject, maxJsonDepth } from "./json.ts";
import { compilePattern } from "./pattern.ts";
import { type ConfigSchema, formats, type Problem } from "./profile.ts";

const maxProblems = 20;
/** Per configuration. A step is one instruction of a pattern on one character, and takes up to 60 ns. */
const maxPatternSteps = 1_000_000;
/** The cost of starting a match, in characters. */
const startCost = 8;
/** A schema may have thousands of values, and long ones. */
const maxListedValues = 20;
const maxListedCharacters = 60;

/** The problems of one configuration, and the pattern steps used so far. */
class Validation {
  readonly problems: Problem[] = [];
  #steps = 0;

  add(pointer: string, code: string, detail: string): void {
    if (this.problems.length < maxProblems) this.problems.push({ pointer, code, detail });
  }

  isFull(): boolean {
    return this.problems.length >= maxProblems;
  }

  /** Adds the cost of matching a text of this length. Returns false if that exceeds the limit. */
  spend(length: number, size: number): boolean {
    this.#steps += (length + startCost) * size;
    return this.#steps <= maxPatternSteps;
  }
}

type Check = (value: unknown, pointer: string, validation: Validation) => void;
type Validate = (config: unknown) => Problem[];

/**
 * Compiles a schema that passes `checkSchema`; null accepts any object. The schema is untrusted, so it is interpreted and no code is
 * generated from it.
 */
export function compileSchema(schema: ConfigSchema | null): Validate {
  const check = compile(schema ?? { type: "object" });
  return (config) => {
    if (isNestedTooDeep(config)) {
      return [{ pointer: "", code: "depth", detail: `nests deeper than ${maxJsonDepth} levels` }];
    }
    const validation = new Validation();
    check(config, "", validation);
    return validation.problems;
  };
}

function compile(schema: ConfigSchema): Check {
  const checks = [...valueChecks(schema), ...typeChecks(schema)];
  const { type } = schema;
  const hasType = typeTests[type];
  return (value, pointer, validation) => {
    if (!hasType(value))
      validation.add(pointer, "type", `must be ${type === "object" ? "an object" : `of type ${type}`}`);
    else for (const check of checks) check(value, pointer, validation);
  };
}

const typeTests: Record<ConfigSchema["type"], (value: unknown) => boolean> = {
  string: (value) => typeof value === "string",
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: isObject,
};

function valueChecks(schema: ConfigSchema): Check[] {
  const checks: Check[] = [];
  const { enum: values } = schema;
  if (values !== undefined) {
    const allowed = new Set(values.map(canonicalJson));
    checks.push((value, pointer, validation) => {
      if (!allowed.has(canonicalJson(value))) validation.add(pointer, "enum", `must be ${listValues(values)}`);
    });
  }
  if (schema.const !== undefined) {
    const only = canonicalJson(schema.const);
    checks.push((value, pointer, validation) => {
      if (canonicalJson(value) !== only) validation.add(pointer, "const", `must be ${listValues([schema.const])}`);
    });
  }
  return checks;
}

/** Lists values of the schema, which is public, never of a configuration. */
function listValues(values: unknown[]): string {
  const listed = values.slice(0, maxListedValues).map((value) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text.length > maxListedCharacters ? `${text.slice(0, maxListedCharacters)}…` : text;
  });
  if (values.length > maxListedValues) listed.push("…");
  return listed.length === 1 ? String(listed[0]) : `one of: ${listed.join(", ")}`;
}

function typeChecks(schema: ConfigSchema): Check[] {
  switch (schema.type) {
    case "string":
      return stringChecks(schema);
    case "number":
    case "integer":
      return boundChecks(schema, ["minimum", "maximum"], (value) => value as number, "");
    case "array":
      return arrayChecks(schema);
    case "object":
      return [compileObject(schema)];
    default:
      return [];
  }
}

type Bound = "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems";

function boundChecks(
  schema: ConfigSchema,
  [minKeyword, maxKeyword]: [Bound, Bound],
  measure: (value: unknown) => number,
  unit: string,
): Check[] {
  const [min = -Infinity, max = Infinity] = [schema[minKeyword], schema[maxKeyword]];
  if (min === -Infinity && max === Infinity) return [];
  return [
    (value, pointer, validation) => {
      const size = measure(value);
      if (size < min) validation.add(pointer, minKeyword, `must ${unit === "" ? "be" : "have"} at least ${min}${unit}`);
      if (size > max) validation.add(pointer, maxKeyword, `must ${unit === "" ? "be" : "have"} at most ${max}${unit}`);
    },
  ];
}

function stringChecks(schema: ConfigSchema): Check[] {
  // JSON Schema counts lengths in code points.
  const checks = boundChecks(
    schema,
    ["minLength", "maxLength"],
    (value) => Array.from(value as string).length,
    " characters",
  );
  const { format, pattern } = schema;
  const hasFormat = format === undefined ? undefined : formats.get(format);
  if (hasFormat !== undefined) {
    checks.push((value, pointer, validation) => {
      if (!hasFormat(value as string)) validation.add(pointer, "format", `must have the format ${format}`);
    });
  }
  if (pattern !== undefined) {
    const compiled = compilePattern(pattern);
    checks.push((value, pointer, validation) => {
      const text = value as string;
      if (!validation.spend(text.length, compiled.size))
        validation.add(pointer, "pattern", "is too long to match against its pattern");
      else if (!compiled.test(text)) validation.add(pointer, "pattern", `must match the pattern ${pattern}`);
    });
  }
  return checks;
}

function arrayChecks(schema: ConfigSchema): Check[] {
  const checks = boundChecks(schema, ["minItems", "maxItems"], (value) => (value as unknown[]).length, " items");
  if (schema.uniqueItems === true) {
    checks.push((value, pointer, validation) => {
      const items = value as unknown[];
      if (new Set(items.map(canonicalJson)).size < items.length)
        validation.add(pointer, "uniqueItems", "must not repeat an item");
    });
  }
  if (schema.items !== undefined) {
    const item = compile(schema.items);
    checks.push((value, pointer, validation) => {
      for (const [index, each] of (value as unknown[]).entries()) {
        if (validation.isFull()) return;
        item(each, `${pointer}/${index}`, validation);
      }
    });
  }
  return checks;
}

function compileObject({ properties = {}, required = [], additionalProperties = true }: ConfigSchema): Check {
  const known = new Map(Object.entries(properties).map(([name, property]) => [name, compile(property)]));
  return (value, pointer, validation) => {
    const object = value as Record<string, unknown>;
    for (const name of required) {
      if (!Object.hasOwn(object, name)) validation.add(`${pointer}/${escapeName(name)}`, "required", "is required");
    }
    for (const [name, part] of Object.entries(object)) {
      if (validation.isFull()) return;
      const check = known.get(name);
      if (check !== undefined) check(part, `${pointer}/${escapeName(name)}`, validation);
      else if (!additionalProperties) {
        validation.add(`${pointer}/${escapeName(name)}`, "additionalProperties", "is not a known setting of this app");
      }
    }
  };
}
