import { type FormatName, fullFormats } from "ajv-formats/dist/formats.js";
import type { JsonObject } from "./json.ts";

export const maxSchemaBytes = 32 * 1024;
export const maxProperties = 100;
/** The properties of the root object are at depth 1. */
export const maxPropertyDepth = 3;
export const maxUniqueItems = 100;
/** Of all patterns of a schema together. */
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
 * Those of ajv-formats that take linear time. `url` backtracks quadratically, `regex` compiles what it is given, and `byte` accepts any
 * text that has one valid line.
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

const validatorOf = (name: ProfileFormat): ((text: string) => boolean) => {
  const format: unknown = fullFormats[name];
  const validate: unknown =
    typeof format === "object" && format !== null && "validate" in format ? format.validate : format;
  if (validate instanceof RegExp) return (text) => validate.test(text);
  if (typeof validate === "function") return validate as (text: string) => boolean;
  throw new Error(`ajv-formats has no validator for ${name}`);
};
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map(
  formatNames.map((name) => [name, validatorOf(name)]),
);

export interface Problem {
  /** Where, as a JSON pointer. */
  pointer: string;
  code: string;
  /** What is wrong and what to do; never a value of a configuration. */
  detail: string;
}
