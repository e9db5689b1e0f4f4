import { Button, Group, PasswordInput, Stack, Text } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { useState } from "react";
import { texts } from "../texts.ts";

const t = texts.settings;

/** A secret is never shown. Null stands for the stored value, which is kept unless another one is set. */
export function SecretWidget({
  id,
  label,
  schema,
  value,
  required,
  rawErrors,
  disabled,
  readonly,
  onChange,
}: WidgetProps) {
  // What the EHR had when the form was opened.
  const [isStored] = useState(value === null);
  const [isEntering, setEntering] = useState<boolean>();
  const isDisabled = disabled === true || readonly === true;
  const without = isStored ? null : undefined;
  if (isEntering) {
    return (
      <Group align="flex-end" wrap="nowrap">
        <PasswordInput
          id={id}
          className="grow"
          label={label}
          description={schema.description}
          withAsterisk={required === true}
          value={value === null || value === undefined ? "" : String(value)}
          maxLength={4_000}
          autoComplete="off"
          // The button that opened it is gone, and with it the focus.
          autoFocus
          disabled={isDisabled}
          error={rawErrors?.join("; ")}
          onChange={(event) => onChange(event.currentTarget.value === "" ? without : event.currentTarget.value)}
        />
        <Button
          variant="default"
          onClick={() => {
            setEntering(false);
            onChange(without);
          }}
        >
          {isStored ? t.keep : t.dontSet}
        </Button>
      </Group>
    );
  }
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500} id={`${id}-label`}>
        {label}
        {required === true && " *"}
      </Text>
      {schema.description !== undefined && (
        <Text size="xs" c="dimmed">
          {schema.description}
        </Text>
      )}
      <Group>
        <Text size="sm">{isStored ? t.secretStored : t.secretMissing}</Text>
        {!isDisabled && (
          <Button
            variant="default"
            size="sm"
            autoFocus={isEntering === false}
            onClick={() => setEntering(true)}
            aria-describedby={`${id}-label`}
          >
            {isStored ? t.replace : t.set}
          </Button>
        )}
      </Group>
      {rawErrors !== undefined && rawErrors.length > 0 && (
        <Text size="sm" c="danger">
          {rawErrors.join("; ")}
        </Text>
      )}
    </Stack>
  );
}
