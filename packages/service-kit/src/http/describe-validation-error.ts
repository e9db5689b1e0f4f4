import type { FastifySchemaValidationError } from "fastify";

const maxListedValues = 20;

const examples: Record<string, string> = {
  date: "a date, such as 2026-03-18",
  email: "an email address, such as help@example.com",
  "date-time": "a date and time with a time zone, such as 2026-03-18T09:30:00Z",
  uuid: "a UUID, such as 01890a5d-ac96-774b-bcce-b302099a8057",
  uri: "a URL, such as https://example.com/path",
};

const types: Record<string, string> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
};

const units: Record<string, string> = { Length: "character", Items: "item", Properties: "field" };

/** Describes the rule that was violated. It quotes the schema only, never the request. */
export function describeValidationError(error: FastifySchemaValidationError): string {
  const { keyword, params, message = "is invalid" } = error;
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
      const example = examples[params["format"] as string];
      return example === undefined ? message : `must be ${example}`;
    }
    case "type": {
      if (params["type"] === "integer") return describeInteger(schemaOf(error));
      const type = types[params["type"] as string];
      return type === undefined ? message : `must be ${type}`;
    }
    case "minimum":
    case "maximum":
      return `must be at ${keyword === "minimum" ? "least" : "most"} ${String(params["limit"])}`;
    case "minLength":
    case "maxLength":
    case "minItems":
    case "maxItems":
    case "minProperties":
    case "maxProperties":
      return describeSize(keyword, params["limit"] as number);
    default:
      return message;
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
