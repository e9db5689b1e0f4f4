import type { FastifySchemaValidationError } from "fastify";

const maxListedValues = 20;

const examples: Record<string, string> = {
  "date-time": "a date and time with a time zone, such as 2026-03-18T09:30:00Z",
  uuid: "a UUID, such as 01890a5d-ac96-774b-bcce-b302099a8057",
  uri: "a URL, such as https://example.com/path",
};

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
    case "type":
      return params["type"] === "integer" ? describeInteger(schemaOf(error)) : message;
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

function listValues(values: unknown[]): string {
  const listed = values
    .slice(0, maxListedValues)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  if (values.length > maxListedValues) listed.push("…");
  return listed.length === 1 ? String(listed[0]) : `one of: ${listed.join(", ")}`;
}
