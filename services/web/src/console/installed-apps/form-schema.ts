import type { ConfigSchema } from "@ehr-marketplace/config-schema";
import type { UiSchema } from "@rjsf/utils";

/** More fields for a list than this would keep the browser busy. */
const maxListItems = 100;
/** Names that objects have by themselves: the form's library would change those of all objects. */
const reservedNames = new Set(["__proto__", "constructor", "prototype"]);
/** What can be entered as a secret. */
const secretTypes = new Set(["string", "number", "integer"]);

type Property = NonNullable<ConfigSchema["properties"]>[string];

const isLongList = (value: unknown): boolean => Array.isArray(value) && value.length > maxListItems;

function isShowable(property: Property): boolean {
  const { type, writeOnly, minItems = 0, default: preset } = property;
  if (writeOnly === true && !secretTypes.has(type)) return false;
  return minItems <= maxListItems && !isLongList(preset) && hasForm(property);
}

/** Whether a form can be made of a schema that keeps to the profile. The others are configured by the API. */
export const hasForm = (schema: ConfigSchema): boolean =>
  Object.entries(schema.properties ?? {}).every(([name, property]) => !reservedNames.has(name) && isShowable(property));

/** Fields for secrets, wherever the schema has them. */
export function createUiSchema(schema: ConfigSchema): UiSchema {
  const secretsIn = ({ properties = {} }: ConfigSchema): UiSchema =>
    Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [
        name,
        property.writeOnly === true ? { "ui:widget": "SecretWidget" } : secretsIn(property),
      ]),
    );
  return { ...secretsIn(schema), "ui:submitButtonOptions": { norender: true }, "ui:title": "" };
}
