import { Button, Checkbox, Fieldset, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import type { ThemeProps } from "@rjsf/core/lib/withTheme.js";
import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  FieldTemplateProps,
  ObjectFieldTemplateProps,
  WidgetProps,
} from "@rjsf/utils";
import { texts } from "../texts.ts";
import { SecretWidget } from "./secret-widget.tsx";

const t = texts.settings;

/** What each of Mantine's inputs takes: its label, help and errors belong to it. */
export const inputProps = ({ id, label, schema, required, disabled, readonly, rawErrors }: WidgetProps) => ({
  id,
  label,
  description: schema.description,
  withAsterisk: required === true,
  disabled: disabled === true || readonly === true,
  error: rawErrors?.join("; "),
});

const inputTypes: Record<string, string> = { email: "email", uri: "url", date: "date", time: "time" };

function TextWidget(props: WidgetProps) {
  const { value, schema, onChange } = props;
  const isNumber = schema.type === "number" || schema.type === "integer";
  return (
    <TextInput
      {...inputProps(props)}
      type={isNumber ? "text" : (inputTypes[schema.format ?? ""] ?? "text")}
      inputMode={isNumber ? "decimal" : "text"}
      value={value === undefined || value === null ? "" : String(value)}
      maxLength={4_000}
      // The form makes numbers of texts, and keeps those that aren't complete yet, such as "2.".
      onChange={(event) => onChange(event.currentTarget.value === "" ? undefined : event.currentTarget.value)}
    />
  );
}

function CheckboxWidget(props: WidgetProps) {
  const { value, onChange } = props;
  const { withAsterisk: _ignored, ...rest } = inputProps(props);
  return <Checkbox {...rest} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />;
}

/** Options by their position, since values may be of any type. */
function SelectWidget(props: WidgetProps) {
  const { value, multiple, options, onChange } = props;
  const choices = options.enumOptions ?? [];
  const keyOf = (chosen: unknown): string => String(choices.findIndex((choice) => choice.value === chosen));
  const valueOf = (key: string): unknown => choices[Number(key)]?.value;
  const data = choices.map(({ label }, nth) => ({ value: String(nth), label }));
  if (multiple === true) {
    return (
      <Checkbox.Group
        {...inputProps(props)}
        value={(Array.isArray(value) ? value : []).map(keyOf)}
        onChange={(keys) => onChange(keys.map(valueOf))}
      >
        <Stack gap="xs" mt="xs">
          {data.map((choice) => (
            <Checkbox key={choice.value} {...choice} />
          ))}
        </Stack>
      </Checkbox.Group>
    );
  }
  return (
    <NativeSelect
      {...inputProps(props)}
      data={[{ value: "", label: t.choose }, ...data]}
      value={value === undefined ? "" : keyOf(value)}
      onChange={(event) => onChange(event.currentTarget.value === "" ? undefined : valueOf(event.currentTarget.value))}
    />
  );
}

/** Labels and errors are the inputs' own. */
const FieldTemplate = ({ children, hidden }: FieldTemplateProps) => (hidden === true ? null : children);

function ObjectTemplate({ title, schema, properties, fieldPathId }: ObjectFieldTemplateProps) {
  const fields = (
    <Stack>
      {schema.description !== undefined && <Text size="sm">{schema.description}</Text>}
      {properties.map(({ name, content }) => (
        <div key={name}>{content}</div>
      ))}
    </Stack>
  );
  return fieldPathId.path.length === 0 ? fields : <Fieldset legend={title}>{fields}</Fieldset>;
}

function ArrayTemplate(props: ArrayFieldTemplateProps) {
  const { title, schema, items, canAdd, onAddClick, rawErrors, readonly } = props;
  return (
    <Fieldset legend={title}>
      <Stack gap="sm">
        {schema.description !== undefined && <Text size="sm">{schema.description}</Text>}
        {items}
        {rawErrors !== undefined && rawErrors.length > 0 && <Text c="danger">{rawErrors.join("; ")}</Text>}
        {canAdd === true && readonly !== true && (
          <Group>
            <Button variant="default" onClick={onAddClick}>
              {t.add}
            </Button>
          </Group>
        )}
      </Stack>
    </Fieldset>
  );
}

function ArrayItemTemplate({ children, buttonsProps, index, readonly }: ArrayFieldItemTemplateProps) {
  return (
    <Group align="flex-end" wrap="nowrap">
      <div className="grow">{children}</div>
      {buttonsProps.hasRemove && readonly !== true && (
        <Button variant="subtle" color="danger" onClick={buttonsProps.onRemoveItem} aria-label={t.remove(index + 1)}>
          {t.removeShort}
        </Button>
      )}
    </Group>
  );
}

/** Our own small theme of the form: `@rjsf/mantine` brings date pickers and a calendar library that no setting needs. */
export const formTheme: ThemeProps = {
  widgets: {
    TextWidget,
    TextareaWidget: TextWidget,
    EmailWidget: TextWidget,
    URLWidget: TextWidget,
    UpDownWidget: TextWidget,
    DateWidget: TextWidget,
    DateTimeWidget: TextWidget,
    TimeWidget: TextWidget,
    PasswordWidget: TextWidget,
    CheckboxWidget,
    SelectWidget,
    CheckboxesWidget: SelectWidget,
    SecretWidget,
  },
  templates: {
    FieldTemplate,
    ObjectFieldTemplate: ObjectTemplate,
    ArrayFieldTemplate: ArrayTemplate,
    ArrayFieldItemTemplate: ArrayItemTemplate,
  },
};
