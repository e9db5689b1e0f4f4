import type { NoticeSettingsDto } from "@ehr-marketplace/client/marketplace";
import { Alert, Button, Checkbox, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { formatList } from "../../storefront/format.ts";
import { marketplace } from "../api/apis.ts";
import { noticeSettingsQuery } from "../api/record-queries.ts";
import { refuseIfChanged } from "../states/changed-meanwhile.ts";
import { QueryView, RowsSkeleton } from "../states/query-view.tsx";
import { SaveError } from "../states/save-error.tsx";
import { texts } from "../texts.ts";
import { practiceKinds, readEmail, setMailed } from "./mail-kinds.ts";

const t = texts.noticeMails;
type Muted = NoticeSettingsDto["mutedKinds"];
type Entered = Pick<NoticeSettingsDto, "email" | "mutedKinds">;

/** What people enter: the address may be confirmed while the form is open. */
const enteredOf = ({ email, mutedKinds }: NoticeSettingsDto): Entered => ({ email, mutedKinds });

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

function MailFacts({ settings: { email, mutedKinds, isConfirmed } }: { settings: NoticeSettingsDto }) {
  const muted = practiceKinds.filter((kind) => mutedKinds.includes(kind)).map((kind) => texts.notices.kinds[kind].name);
  return (
    <>
      <Text>{email === null ? t.nowhere : isConfirmed ? t.to(email) : t.unconfirmed(email)}</Text>
      {email !== null && muted.length > 0 && <Text>{t.muted(formatList(muted))}</Text>}
    </>
  );
}

const toDraft = (base: NoticeSettingsDto) => ({ entered: base.email ?? "", mutedKinds: base.mutedKinds, base });

function MailForm({ alias, settings }: { alias: string; settings: NoticeSettingsDto }) {
  const queries = useQueryClient();
  /** What has been entered, and what was stored before. Until then, the form shows what is read. */
  const [draft, setDraft] = useState<ReturnType<typeof toDraft>>();
  const shown = draft ?? toDraft(settings);
  const { entered, mutedKinds, base } = shown;
  const isChanged = entered !== (base.email ?? "") || mutedKinds !== base.mutedKinds;
  const [isBad, setIsBad] = useState(false);
  const show = (stored: NoticeSettingsDto): void => {
    queries.setQueryData(noticeSettingsQuery(alias).queryKey, stored);
    setDraft(toDraft(stored));
  };
  const save = useMutation({
    mutationFn: async ({ body, isOverwriting }: { body: Entered; isOverwriting: boolean }) => {
      if (!isOverwriting) {
        const stored = await marketplace("GET /organisations/{alias}/notice-settings", { path: { alias } });
        refuseIfChanged(enteredOf(base), enteredOf(stored), stored);
      }
      return marketplace("PUT /organisations/{alias}/notice-settings", { path: { alias }, body });
    },
    onSuccess: show,
  });
  const submit = (isOverwriting: boolean): void => {
    const email = readEmail(entered);
    setIsBad(email === undefined);
    if (email !== undefined) save.mutate({ body: { email, mutedKinds }, isOverwriting });
  };
  const change = (changes: { entered: string } | { mutedKinds: Muted }): void => {
    save.reset();
    setDraft({ ...shown, ...changes });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit(false);
      }}
      noValidate
    >
      <Stack gap="md" maw="32rem">
        <TextInput
          type="email"
          autoComplete="email"
          maxLength={254}
          label={t.email}
          description={t.emailHint}
          value={entered}
          error={isBad ? t.badEmail : undefined}
          onChange={(event) => change({ entered: event.currentTarget.value })}
        />
        {base.email !== null && !base.isConfirmed && (
          <Alert color="warning" variant="light" role="note" className="notice warning">
            <Stack gap="xs" align="flex-start">
              <Text size="sm">{t.unconfirmed(base.email)}</Text>
              <Button
                variant="default"
                size="compact-sm"
                disabled={save.isPending || isChanged}
                onClick={() => save.mutate({ body: enteredOf(base), isOverwriting: false })}
              >
                {t.anotherLink}
              </Button>
            </Stack>
          </Alert>
        )}
        <fieldset className="choices">
          <legend>{t.kinds}</legend>
          {practiceKinds.map((kind) => (
            <Checkbox
              key={kind}
              label={texts.notices.kinds[kind].name}
              checked={!mutedKinds.includes(kind)}
              onChange={(event) => change({ mutedKinds: setMailed(mutedKinds, kind, event.currentTarget.checked) })}
            />
          ))}
        </fieldset>
        <SaveError<NoticeSettingsDto>
          error={save.error}
          onReload={(stored) => {
            save.reset();
            setIsBad(false);
            show(stored);
          }}
          onOverwrite={() => submit(true)}
        />
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
