import { type FormatName, fullFormats } from "ajv-formats/dist/formats.js";
import type { JsonObject } from "./json.ts";

export const maxSchemaBytes = 32 * 1024;
export const maxProperties = 100;
/** The properties of the root object are at depth 1. */
export const maxPropertyDepth = 3;
export const maxUniqueItems = 100;
/** The total over all patterns of a schema. */
export const maxTotalPositions = 3_000;
export const dialect = "https://json-schema.org/draft/2020-12/schema";

export type ScalarType = "string" | "number" | "integer" | "boolean";
export const scalarTypes: readonly string[] = ["string", "number", "integer", "boolean"];
export const propertyTypes: readonly string[] = [...scalarTypes, "array", "object"];

/** A schema of the profile, as `checkSchema` accepts it. */
export interface ConfigSchema extends JsonObject {
  type: ScalarType | "array" | "object";
  writeOnly?: boolean;
  enum?: unknown[];
  const?: unknown;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: ProfileFormat;
  minimum?: number;
  maximum?: number;
  items?: ConfigSchema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  properties?: Record<string, ConfigSchema>;
  required?: string[];
  additionalProperties?: boolean;
}

/**
 * The formats of ajv-formats that take linear time. Excluded: `url` backtracks quadratically, `regex` compiles untrusted expressions,
 * and `byte` accepts any text with one valid line.
 */
const formatNames = [
  "date",
  "time",
  "date-time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uri",
  "uuid",
] as const satisfies FormatName[];
export type ProfileFormat = (typeof formatNames)[number];

const getFormatValidator = (name: ProfileFormat): ((text: string) => boolean) => {
  const format: unknown = fullFormats[name];
  const validate: unknown =
    typeof format === "object" && format !== null && "validate" in format ? format.validate : format;
  if (validate instanceof RegExp) return (text) => validate.test(text);
  if (typeof validate === "function") return validate as (text: string) => boolean;
  throw new Error(`ajv-formats has no validator for ${name}`);
};
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map(
  formatNames.map((name) => [name, getFormatValidator(name)]),
);

export interface Problem {
  /** JSON pointer to the invalid value. */
  pointer: string;
  code: string;
  /** The problem and how to correct it; never contains a value of a configuration. */
  detail: string;
}
