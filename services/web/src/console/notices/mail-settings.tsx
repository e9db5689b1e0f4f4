import type { NoticeSettingsDto } from "@ehr-marketplace/client/marketplace";
import { Alert, Button, Checkbox, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { formatList } from "../../storefront/format.ts";
import { marketplace } from "../api/apis.ts";
import { noticeSettingsQuery } from "../api/record-queries.ts";
import { ErrorNotice } from "../states/notices.tsx";
import { QueryView, RowsSkeleton } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { practiceKinds, readEmail, setMailed } from "./mail-kinds.ts";

const t = texts.noticeMails;

/** Where notices are mailed, and about what. */
export function MailSettings({ alias, isAdmin }: { alias: string; isAdmin: boolean }) {
  const settings = useQuery({ ...noticeSettingsQuery(alias), refetchOnWindowFocus: false });
  const titleId = useId();
  return (
    <section className="card" aria-labelledby={titleId}>
      <Stack gap="sm">
        <Title order={2} id={titleId}>
          {t.title}
        </Title>
        <Text size="sm" c="dimmed" maw="42rem">
          {t.text}
        </Text>
        <QueryView query={settings} skeleton={<RowsSkeleton rows={4} />}>
          {(data) => (isAdmin ? <MailForm alias={alias} settings={data} /> : <MailFacts settings={data} />)}
        </QueryView>
      </Stack>
    </section>
  );
}

function MailFacts({ settings: { email, mutedKinds } }: { settings: NoticeSettingsDto }) {
  const muted = practiceKinds.filter((kind) => mutedKinds.includes(kind)).map((kind) => texts.notices.kinds[kind].name);
  return (
    <>
      <Text>{email === null ? t.nowhere : t.to(email)}</Text>
      {email !== null && muted.length > 0 && <Text>{t.muted(formatList(muted))}</Text>}
    </>
  );
}

function MailForm({ alias, settings }: { alias: string; settings: NoticeSettingsDto }) {
  const queries = useQueryClient();
  const [entered, setEntered] = useState(settings.email ?? "");
  const [mutedKinds, setMutedKinds] = useState(settings.mutedKinds);
  const [isBad, setIsBad] = useState(false);
  const save = useMutation({
    mutationFn: (body: NoticeSettingsDto) =>
      marketplace("PUT /organisations/{alias}/notice-settings", { path: { alias }, body }),
    onSuccess: (saved) => queries.setQueryData(noticeSettingsQuery(alias).queryKey, saved),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const email = readEmail(entered);
    setIsBad(email === undefined);
    if (email !== undefined) save.mutate({ email, mutedKinds });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md" maw="32rem">
        <TextInput
          type="email"
          autoComplete="email"
          maxLength={254}
          label={t.email}
          description={t.emailHint}
          value={entered}
          error={isBad ? t.badEmail : undefined}
          onChange={(event) => {
            save.reset();
            setEntered(event.currentTarget.value);
          }}
        />
        <fieldset className="choices">
          <legend>{t.kinds}</legend>
          {practiceKinds.map((kind) => (
            <Checkbox
              key={kind}
              label={texts.notices.kinds[kind].name}
              checked={!mutedKinds.includes(kind)}
              onChange={(event) => {
                save.reset();
                setMutedKinds(setMailed(mutedKinds, kind, event.currentTarget.checked));
              }}
            />
          ))}
        </fieldset>
        {save.error !== null && <ErrorNotice error={save.error} />}
        <div role="status">
          {save.isSuccess && (
            <Alert color="positive" variant="light" className="notice">
              {t.saved}
            </Alert>
          )}
        </div>
        <Group>
          <Button type="submit" loading={save.isPending}>
            {t.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
