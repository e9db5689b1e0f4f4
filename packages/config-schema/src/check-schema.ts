import { escapeName, isNestedTooDeep, isObject, type JsonObject, maxJsonDepth } from "./json.ts";
import { compilePattern, PatternError } from "./pattern.ts";
import {
  dialect,
  formats,
  maxProperties,
  maxPropertyDepth,
  maxSchemaBytes,
  maxTotalPositions,
  maxUniqueItems,
  type Problem,
  propertyTypes,
  scalarTypes,
} from "./profile.ts";

export type SchemaProblemCode =
  | "not-an-object"
  | "too-large"
  | "too-deep"
  | "too-many-properties"
  | "unsupported-dialect"
  | "unsupported-type"
  | "unsupported-keyword"
  | "misplaced-keyword"
  | "invalid-value"
  | "unsupported-format"
  | "unsupported-pattern"
  | "unbounded-unique-items";
export type SchemaProblem = Problem & { code: SchemaProblemCode };

const maxProblems = 100;

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isBoolean = (value: unknown): boolean => typeof value === "boolean";
const isStringArray = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const acceptAny = (): boolean => true;

interface Keyword {
  /** The types that the keyword applies to; all types if absent. */
  types?: readonly string[];
  accepts: (value: unknown) => boolean;
  /** Completes "must be …". */
  expected: string;
}

const text: Keyword = { accepts: isText, expected: "a string" };
const count = (type: string): Keyword => ({ types: [type], accepts: isCount, expected: "a whole number, 0 or more" });
const number: Keyword = { types: ["number", "integer"], accepts: isNumber, expected: "a number" };
const nonEmpty = {
  accepts: (value: unknown) => Array.isArray(value) && value.length > 0,
  expected: "a list of values",
};
const flag: Keyword = { accepts: isBoolean, expected: "true or false" };

const keywords = new Map<string, Keyword>([
  ["type", { accepts: acceptAny, expected: "" }],
  ["title", text],
  ["description", text],
  ["default", { accepts: acceptAny, expected: "" }],
  ["examples", { accepts: Array.isArray, expected: "a list" }],
  ["enum", nonEmpty],
  ["const", { accepts: acceptAny, expected: "" }],
  ["writeOnly", flag],
  ["minLength", count("string")],
  ["maxLength", count("string")],
  ["pattern", { ...text, types: ["string"] }],
  ["format", { ...text, types: ["string"] }],
  ["minimum", number],
  ["maximum", number],
  ["items", { types: ["array"], accepts: isObject, expected: "a schema" }],
  ["minItems", count("array")],
  ["maxItems", count("array")],
  ["uniqueItems", { ...flag, types: ["array"] }],
  ["properties", { types: ["object"], accepts: isObject, expected: "an object of schemas" }],
  ["required", { types: ["object"], accepts: isStringArray, expected: "a list of property names" }],
  ["additionalProperties", { ...flag, types: ["object"] }],
]);

/** The position of a schema, which determines the allowed types and keywords. */
type Role = "root" | "property" | "item";
const allowedTypes: Record<Role, readonly string[]> = { root: ["object"], property: propertyTypes, item: scalarTypes };

/** Returns all problems of a schema; an empty list means that the schema conforms to the profile. */
export function checkSchema(schema: unknown): SchemaProblem[] {
  if (!isObject(schema)) {
    return [{ pointer: "", code: "not-an-object", detail: "A configuration schema must be a JSON object." }];
  }
  if (isNestedTooDeep(schema)) {
    return [{ pointer: "", code: "too-deep", detail: `The schema nests deeper than ${maxJsonDepth} levels.` }];
  }
  const bytes = new TextEncoder().encode(JSON.stringify(schema)).length;
  if (bytes > maxSchemaBytes) {
    const detail = `The schema has ${bytes} bytes as JSON; at most ${maxSchemaBytes} are supported.`;
    return [{ pointer: "", code: "too-large", detail }];
  }
  const check = new SchemaCheck();
  check.schema(schema, "", "root", 0);
  return check.problems;
}

class SchemaCheck {
  readonly problems: SchemaProblem[] = [];
  #properties = 0;
  #positions = 0;

  schema(schema: JsonObject, pointer: string, role: Role, depth: number): void {
    const { type } = schema;
    const types = allowedTypes[role];
    if (typeof type !== "string" || !types.includes(type)) {
      const allowed = types.map((each) => `\`${each}\``).join(", ");
      this.#add(`${pointer}/type`, "unsupported-type", `\`type\` must be one of ${allowed}, and is required.`);
      return;
    }
    for (const [name, value] of Object.entries(schema)) this.#keyword(name, value, pointer, type, role);
    if (type === "array") this.#array(schema, pointer, depth);
    if (type === "object") this.#object(schema, pointer, depth);
  }

  #keyword(name: string, value: unknown, pointer: string, type: string, role: Role): void {
    const at = `${pointer}/${escapeName(name)}`;
    if (name === "$schema" && role === "root") {
      if (value === dialect || value === `${dialect}#`) return;
      this.#add(at, "unsupported-dialect", `\`$schema\` must be "${dialect}", or absent.`);
      return;
    }
    const keyword = keywords.get(name);
    if (keyword === undefined) {
      this.#add(at, "unsupported-keyword", `${quoted(name)} is not supported; remove it.`);
    } else if (keyword.types !== undefined && !keyword.types.includes(type)) {
      this.#add(at, "misplaced-keyword", `\`${name}\` does not apply to type \`${type}\`; remove it.`);
    } else if (name === "writeOnly" && role !== "property") {
      this.#add(at, "misplaced-keyword", "`writeOnly` applies to a whole property; move it to the property's schema.");
    } else if (!keyword.accepts(value)) {
      this.#add(at, "invalid-value", `\`${name}\` must be ${keyword.expected}.`);
    } else if (name === "format") this.#format(value as string, at);
    else if (name === "pattern") this.#pattern(value as string, at);
  }

  #format(format: string, at: string): void {
    if (formats.has(format)) return;
    this.#add(at, "unsupported-format", `\`format\` must be one of ${[...formats.keys()].join(", ")}.`);
  }

  #pattern(pattern: string, at: string): void {
    // Compiling patterns takes time, so no more are compiled once the total is exceeded.
    if (this.#positions > maxTotalPositions) return;
    try {
      this.#positions += compilePattern(pattern).positions;
      if (this.#positions <= maxTotalPositions) return;
      const detail = `The patterns of the schema have more than ${maxTotalPositions} positions in total.`;
      this.#add(
        at,
        "unsupported-pattern",
        `${detail} Shorten counted repetitions; \`maxLength\` limits a length at no cost.`,
      );
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      this.#add(at, "unsupported-pattern", `The pattern ${error.message}.`);
    }
  }

  #array(schema: JsonObject, pointer: string, depth: number): void {
    const { items, uniqueItems, maxItems } = schema;
    if (items === undefined) this.#add(`${pointer}/items`, "invalid-value", "An array must have `items`, a schema.");
    if (isObject(items)) this.schema(items, `${pointer}/items`, "item", depth);
    if (uniqueItems === true && !(isCount(maxItems) && (maxItems as number) <= maxUniqueItems)) {
      const detail = `\`uniqueItems\` requires \`maxItems\` of at most ${maxUniqueItems}.`;
      this.#add(`${pointer}/uniqueItems`, "unbounded-unique-items", detail);
    }
  }

  #object({ properties }: JsonObject, pointer: string, depth: number): void {
    if (!isObject(properties)) return;
    for (const [name, property] of Object.entries(properties)) {
      const at = `${pointer}/properties/${escapeName(name)}`;
      this.#properties += 1;
      if (this.#properties === maxProperties + 1) {
        this.#add(
          at,
          "too-many-properties",
          `A schema can have at most ${maxProperties} properties, nested ones included.`,
        );
      }
      if (this.#properties > maxProperties) return;
      if (depth === maxPropertyDepth) {
        this.#add(
          at,
          "too-deep",
          `Properties can be nested at most ${maxPropertyDepth} levels deep; move this one up.`,
        );
      } else if (isObject(property)) this.schema(property, at, "property", depth + 1);
      else this.#add(at, "not-an-object", "A property's schema must be a JSON object.");
    }
  }

  #add(pointer: string, code: SchemaProblemCode, detail: string): void {
    if (this.problems.length < maxProblems) this.problems.push({ pointer, code, detail: makeStorable(detail) });
  }
}

/** Details may quote the schema, and PostgreSQL can store neither NUL nor unpaired surrogates. */
const makeStorable = (detail: string): string => detail.toWellFormed().replaceAll(/\p{Cc}/gu, "\ufffd");

/** Shortened and written as JSON, because a name may contain any character. */
const quoted = (name: string): string => JSON.stringify(name.slice(0, 64));
