import { canonicalJson, escapeName, isObject, maxJsonDepth, nestsTooDeep } from "./json.ts";
import { compilePattern } from "./pattern.ts";
import { type ConfigSchema, formats, type Problem } from "./profile.ts";

const maxProblems = 20;
/** Of a configuration: each step is one instruction of a pattern on one character, and takes up to 60 ns. */
const maxPatternSteps = 1_000_000;
/** Starting a match costs as much as this many characters. */
const startCost = 8;

/** Problems of one configuration, and what its patterns have cost so far. */
class Run {
  readonly problems: Problem[] = [];
  #steps = 0;

  add(pointer: string, code: string, detail: string): void {
    if (this.problems.length < maxProblems) this.problems.push({ pointer, code, detail });
  }

  isFull(): boolean {
    return this.problems.length >= maxProblems;
  }

  /** Whether there is time left to match a text of this length. */
  spend(length: number, size: number): boolean {
    this.#steps += (length + startCost) * size;
    return this.#steps <= maxPatternSteps;
  }
}

type Check = (value: unknown, pointer: string, run: Run) => void;
type Validate = (config: unknown) => Problem[];

/**
 * Takes a schema that `checkSchema` has no problem with; null accepts any object. Nothing is generated from the schema, which is
 * untrusted: it is interpreted.
 */
export function compileSchema(schema: ConfigSchema | null): Validate {
  const check = compile(schema ?? { type: "object" });
  return (config) => {
    if (nestsTooDeep(config)) {
      return [{ pointer: "", code: "depth", detail: `nests deeper than ${maxJsonDepth} levels` }];
    }
    const run = new Run();
    check(config, "", run);
    return run.problems;
  };
}

function compile(schema: ConfigSchema): Check {
  const checks = [...valueChecks(schema), ...typeChecks(schema)];
  const { type } = schema;
  const hasType = typeTests[type];
  return (value, pointer, run) => {
    if (!hasType(value)) run.add(pointer, "type", `must be ${type === "object" ? "an object" : `of type ${type}`}`);
    else for (const check of checks) check(value, pointer, run);
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
  if (schema.enum !== undefined) {
    const allowed = new Set(schema.enum.map(canonicalJson));
    checks.push((value, pointer, run) => {
      if (!allowed.has(canonicalJson(value)))
        run.add(pointer, "enum", "must be one of the values that the schema lists");
    });
  }
  if (schema.const !== undefined) {
    const only = canonicalJson(schema.const);
    checks.push((value, pointer, run) => {
      if (canonicalJson(value) !== only) run.add(pointer, "const", "must be the value that the schema names");
    });
  }
  return checks;
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
  [least, most]: [Bound, Bound],
  measure: (value: unknown) => number,
  unit: string,
): Check[] {
  const [min = -Infinity, max = Infinity] = [schema[least], schema[most]];
  if (min === -Infinity && max === Infinity) return [];
  return [
    (value, pointer, run) => {
      const size = measure(value);
      if (size < min) run.add(pointer, least, `must ${unit === "" ? "be" : "have"} at least ${min}${unit}`);
      if (size > max) run.add(pointer, most, `must ${unit === "" ? "be" : "have"} at most ${max}${unit}`);
    },
  ];
}

function stringChecks(schema: ConfigSchema): Check[] {
  // A length counts code points.
  const checks = boundChecks(
    schema,
    ["minLength", "maxLength"],
    (value) => Array.from(value as string).length,
    " characters",
  );
  const { format, pattern } = schema;
  const hasFormat = format === undefined ? undefined : formats.get(format);
  if (hasFormat !== undefined) {
    checks.push((value, pointer, run) => {
      if (!hasFormat(value as string)) run.add(pointer, "format", `must have the format ${format}`);
    });
  }
  if (pattern !== undefined) {
    const compiled = compilePattern(pattern);
    checks.push((value, pointer, run) => {
      const text = value as string;
      if (!run.spend(text.length, compiled.size))
        run.add(pointer, "pattern", "is too long to be matched against its pattern");
      else if (!compiled.test(text)) run.add(pointer, "pattern", `must match the pattern ${pattern}`);
    });
  }
  return checks;
}

function arrayChecks(schema: ConfigSchema): Check[] {
  const checks = boundChecks(schema, ["minItems", "maxItems"], (value) => (value as unknown[]).length, " items");
  if (schema.uniqueItems === true) {
    checks.push((value, pointer, run) => {
      const items = value as unknown[];
      if (new Set(items.map(canonicalJson)).size < items.length)
        run.add(pointer, "uniqueItems", "must not repeat an item");
    });
  }
  if (schema.items !== undefined) {
    const item = compile(schema.items);
    checks.push((value, pointer, run) => {
      for (const [index, each] of (value as unknown[]).entries()) {
        if (run.isFull()) return;
        item(each, `${pointer}/${index}`, run);
      }
    });
  }
  return checks;
}

function compileObject({ properties = {}, required = [], additionalProperties = true }: ConfigSchema): Check {
  const known = new Map(Object.entries(properties).map(([name, property]) => [name, compile(property)]));
  return (value, pointer, run) => {
    const object = value as Record<string, unknown>;
    for (const name of required) {
      if (!Object.hasOwn(object, name)) run.add(`${pointer}/${escapeName(name)}`, "required", "is required");
    }
    for (const [name, part] of Object.entries(object)) {
      if (run.isFull()) return;
      const check = known.get(name);
      if (check !== undefined) check(part, `${pointer}/${escapeName(name)}`, run);
      else if (!additionalProperties) {
        run.add(`${pointer}/${escapeName(name)}`, "additionalProperties", "is not known to this app");
      }
    }
  };
}
