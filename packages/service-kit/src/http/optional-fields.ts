/** The subset of JSON Schema that determines which fields are optional. */
export interface FieldSchema {
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly FieldSchema[];
  description?: string;
  properties?: Record<string, FieldSchema>;
  required?: readonly string[];
  items?: FieldSchema;
}

/** A schema without any constraint on the value accepts null too. */
function acceptsNull({ type, const: constant, enum: values, anyOf }: FieldSchema): boolean {
  if (type !== undefined) return [type].flat().includes("null");
  if (constant !== undefined || values !== undefined) return constant === null || values?.includes(null) === true;
  return anyOf === undefined || anyOf.some(acceptsNull);
}

const isOptional = ({ required = [] }: FieldSchema, name: string): boolean => !required.includes(name);

/**
 * Deletes optional fields that are null although their schema doesn't accept null: some clients' serialisers write absent fields
 * as null.
 */
export function dropNulls(schema: FieldSchema, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) dropNulls(schema.items, item);
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (fields[name] === null && isOptional(schema, name) && !acceptsNull(property)) delete fields[name];
    else if (Object.hasOwn(fields, name)) dropNulls(property, fields[name]);
  }
}

/** Adds null to the optional fields where `dropNulls` deletes it, for the API reference. */
export function withOptionalNulls(schema: FieldSchema): FieldSchema {
  const changed = { ...schema };
  if (schema.items !== undefined) changed.items = withOptionalNulls(schema.items);
  if (schema.properties !== undefined) {
    const properties = Object.entries(schema.properties).map(([name, property]) => {
      const { description, ...rest } = withOptionalNulls(property);
      const isNullDropped = isOptional(schema, name) && !acceptsNull(property);
      return [name, { description, ...(isNullDropped ? { anyOf: [rest, { type: "null" }] } : rest) }];
    });
    changed.properties = Object.fromEntries(properties) as Record<string, FieldSchema>;
  }
  return changed;
}
