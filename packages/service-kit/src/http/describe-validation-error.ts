import {
  clientIdPattern,
  monthPattern,
  noNulPattern,
  orgAliasPattern,
  sha256Pattern,
  slugPattern,
  usageRecordIdPattern,
  webUrlPattern,
} from "@ehr-marketplace/contracts";
import type { FastifySchemaValidationError } from "fastify";

const maxListedValues = 20;

const examples: Record<string, string> = {
  date: "a date, such as 2026-03-18",
  email: "an email address, such as help@example.com",
  "date-time": "a date and time with a time zone, such as 2026-03-18T09:30:00Z",
  uuid: "a UUID, such as 01890a5d-ac96-774b-bcce-b302099a8057",
  uri: "a URL, such as https://example.com/path",
};

/** Of schemas without an error message of their own, such as those with several rules. */
const patterns: Record<string, string> = {
  [noNulPattern]: "must not contain the character NUL (U+0000)",
  [slugPattern]: "must be lower-case letters and digits with single hyphens, such as northwind-health",
  [orgAliasPattern]: "must be 1 to 64 letters, digits, dots, hyphens and underscores, and begin with a letter or digit",
  [webUrlPattern]: "must be an https URL without spaces, such as https://example.com/path",
  [clientIdPattern]: "must be ASCII characters that can be printed",
  [usageRecordIdPattern]: "must be letters, digits, dots, hyphens, underscores and colons",
  [sha256Pattern]: "must be a SHA-256 digest: 64 lower-case hexadecimal digits",
  [monthPattern]: "must be a month, such as 2027-04",
};

const types: Record<string, string> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
  null: "null",
};

export const noAlternative = "has none of the accepted forms";

const units: Record<string, string> = { Length: "character", Items: "item", Properties: "field" };

/** Describes the rule that was violated, in words that say what to send. It quotes the schema only, never the request. */
export function describeValidationError(error: FastifySchemaValidationError): string {
  const { keyword, params, message } = error;
  const described = schemaOf(error)["x-error-message"];
  if (described !== undefined) return described;
  switch (keyword) {
    case "required":
    case "dependentRequired":
      return "is required";
    case "additionalProperties":
      return "is not a known field";
    case "enum":
      return `must be ${listValues(params["allowedValues"] as unknown[])}`;
    case "const":
      return `must be ${JSON.stringify(params["allowedValue"])}`;
    case "format": {
      const format = params["format"] as string;
      return `must be ${examples[format] ?? `a valid ${format}`}`;
    }
    case "pattern":
      return patterns[params["pattern"] as string] ?? "has characters or a form that isn't accepted";
    case "type": {
      if (params["type"] === "integer") return describeInteger(schemaOf(error));
      const type = types[params["type"] as string];
      return type === undefined ? "is of the wrong type" : `must be ${type}`;
    }
    case "minimum":
    case "maximum":
      return `must be at ${keyword === "minimum" ? "least" : "most"} ${String(params["limit"])}`;
    case "exclusiveMinimum":
    case "exclusiveMaximum":
      return `must be ${keyword === "exclusiveMinimum" ? "more" : "less"} than ${String(params["limit"])}`;
    case "multipleOf":
      return `must be a multiple of ${String(params["multipleOf"])}`;
    case "uniqueItems":
      return "must not have the same item twice";
    case "minLength":
    case "maxLength":
    case "minItems":
    case "maxItems":
    case "minProperties":
    case "maxProperties":
      return describeSize(keyword, params["limit"] as number);
    case "anyOf":
      // Of `collapseUnions`, which lists the alternatives.
      return message ?? noAlternative;
    case "oneOf":
      return noAlternative;
    default:
      return "is invalid";
  }
}

interface FieldRules {
  "x-error-message"?: string;
  minimum?: number;
  maximum?: number;
}

/** The field's schema, which Ajv's option `verbose` adds to the error. */
function schemaOf(error: FastifySchemaValidationError): FieldRules {
  return (error as { parentSchema?: FieldRules }).parentSchema ?? {};
}

function describeInteger({ minimum, maximum }: FieldRules): string {
  const what = "must be a whole number";
  if (minimum !== undefined && maximum !== undefined) return `${what} from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${what}, at least ${minimum}`;
  return maximum === undefined ? what : `${what}, at most ${maximum}`;
}

function describeSize(keyword: string, limit: number): string {
  const bound = keyword.startsWith("min") ? "at least" : "at most";
  return `must have ${bound} ${limit} ${units[keyword.slice(3)]}${limit === 1 ? "" : "s"}`;
}

function listValues(values: unknown[]): string {
  const listed = values
    .slice(0, maxListedValues)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  if (values.length > maxListedValues) listed.push("…");
  return listed.length === 1 ? String(listed[0]) : `one of: ${listed.join(", ")}`;
}
