/** As much of JSON Schema as decides what may be left out. */
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

/** A schema that says nothing about the value admits null as well. */
function admitsNull({ type, const: constant, enum: values, anyOf }: FieldSchema): boolean {
  if (type !== undefined) return [type].flat().includes("null");
  if (constant !== undefined || values !== undefined) return constant === null || values?.includes(null) === true;
  return anyOf === undefined || anyOf.some(admitsNull);
}

const isOptional = ({ required = [] }: FieldSchema, name: string): boolean => !required.includes(name);

/**
 * Deletes the optional fields that are null where their schema doesn't admit it: clients whose serialisers write out
 * every field mean that there is none.
 */
export function dropNulls(schema: FieldSchema, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) dropNulls(schema.items, item);
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (fields[name] === null && isOptional(schema, name) && !admitsNull(property)) delete fields[name];
    else if (Object.hasOwn(fields, name)) dropNulls(property, fields[name]);
  }
}

/** The schema with what `dropNulls` deletes, for the API reference. */
export function withOptionalNulls(schema: FieldSchema): FieldSchema {
  const changed = { ...schema };
  if (schema.items !== undefined) changed.items = withOptionalNulls(schema.items);
  if (schema.properties !== undefined) {
    const properties = Object.entries(schema.properties).map(([name, property]) => {
      const { description, ...rest } = withOptionalNulls(property);
      const isNullDropped = isOptional(schema, name) && !admitsNull(property);
      return [name, { description, ...(isNullDropped ? { anyOf: [rest, { type: "null" }] } : rest) }];
    });
    changed.properties = Object.fromEntries(properties) as Record<string, FieldSchema>;
  }
  return changed;
}
