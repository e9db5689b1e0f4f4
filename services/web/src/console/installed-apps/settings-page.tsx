import type { InstallationDto } from "@ehr-marketplace/client/ehr";
import { type ConfigSchema, checkSchema, type JsonObject } from "@ehr-marketplace/config-schema";
import { Alert, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
// Not from the package's index: it also exports a function for tests, which imports Ajv.
import withTheme from "@rjsf/core/lib/withTheme.js";
import type { RJSFSchema } from "@rjsf/utils";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { ehr } from "../api/apis.ts";
import { appQuery } from "../api/catalog-queries.ts";
import { installationQuery } from "../api/practice-queries.ts";
import { useSession } from "../api/session.ts";
import { practiceName } from "../practice-name.ts";
import { ButtonLink, TextLink } from "../shell/links.tsx";
import { Page } from "../shell/page.tsx";
import { refuseIfChanged } from "../states/changed-meanwhile.ts";
import { isNotFound } from "../states/describe-error.ts";
import { EmptyNotice } from "../states/notices.tsx";
import { QueryView } from "../states/query-view.tsx";
import { SaveError } from "../states/save-error.tsx";
import { UnsavedDialog } from "../states/unsaved-dialog.tsx";
import { texts } from "../texts.ts";
import { configValidator } from "./config-validator.ts";
import { createUiSchema, hasForm } from "./form-schema.ts";
import { formTheme } from "./form-theme.tsx";

const t = texts.settings;
const route = getRouteApi("/practice/$alias/apps/$slug");
const ThemedForm = withTheme<JsonObject>(formTheme);

/** What the practice has configured of an app. */
export function SettingsPage() {
  const { alias, slug } = route.useParams();
  const isAdmin = useSession().practices.some((practice) => practice.alias === alias && practice.isAdmin);
  const installation = useQuery({ ...installationQuery(alias, slug), refetchOnWindowFocus: false });
  const app = useQuery({ ...appQuery(slug), refetchOnWindowFocus: false });
  return (
    <Page
      title={t.title(installation.data?.name ?? app.data?.name ?? slug)}
      action={
        isAdmin && installation.data ? (
          <TextLink to="/practice/$alias/apps/$slug/launches" params={{ alias, slug }}>
            {texts.launches.link}
          </TextLink>
        ) : null
      }
    >
      <QueryView query={installation} skeleton={<Skeleton height={240} />}>
        {(installed) =>
          installed === null ? (
            <EmptyNotice title={t.notInstalled} text={texts.installedApps.emptyText}>
              <ButtonLink to="/practice/$alias/apps" params={{ alias }} variant="default">
                {texts.launches.toApps}
              </ButtonLink>
            </EmptyNotice>
          ) : isNotFound(app.error) ? (
            <Text>{t.notInCatalog}</Text>
          ) : (
            <QueryView query={app} skeleton={<Skeleton height={240} />}>
              {({ configSchema }) => <Settings alias={alias} installed={installed} schema={configSchema} />}
            </QueryView>
          )
        }
      </QueryView>
    </Page>
  );
}

interface SettingsProps {
  alias: string;
  installed: InstallationDto;
  schema: Record<string, unknown> | null;
}

function Settings({ alias, installed, schema }: SettingsProps) {
  if (schema === null) return <Text>{t.none}</Text>;
  // The schema is a vendor's: a form is made of it only if it keeps to the profile.
  if (checkSchema(schema).length > 0 || !hasForm(schema as ConfigSchema)) return <Text>{t.unknownSchema}</Text>;
  // Another app's form is another one, also if one goes from the one to the other in the browser's history.
  const { appSlug } = installed;
  return <SettingsForm key={appSlug} alias={alias} installed={installed} schema={schema as ConfigSchema} />;
}

function SettingsForm({
  alias,
  installed,
  schema,
}: {
  alias: string;
  installed: InstallationDto;
  schema: ConfigSchema;
}) {
  const isAdmin = useSession().practices.some((practice) => practice.alias === alias && practice.isAdmin);
  /** What has been entered, and what was stored before. Until then, the form shows what is read. */
  const [draft, setDraft] = useState<{ config: JsonObject; base: JsonObject }>();
  const { config, base } = draft ?? { config: installed.config, base: installed.config };
  const [isEdited, setEdited] = useState(false);
  const [problems, setProblems] = useState(0);
  // A new form after each save, so that secrets that were set are stored ones.
  const [version, setVersion] = useState(0);
  const queries = useQueryClient();
  const show = (stored: InstallationDto): void => {
    queries.setQueryData(installationQuery(alias, installed.appSlug).queryKey, stored);
    setDraft({ config: stored.config, base: stored.config });
    setEdited(false);
    setVersion(version + 1);
  };
  const save = useMutation({
    mutationFn: async ({ body, isOverwriting }: { body: JsonObject; isOverwriting: boolean }) => {
      const input = { path: { appSlug: installed.appSlug }, headers: { "x-org-alias": alias } };
      const stored = isOverwriting ? undefined : (await ehr("GET /app-installations/{appSlug}", input)).data;
      if (stored !== undefined) refuseIfChanged(base, stored.config, stored);
      return (await ehr("PUT /app-installations/{appSlug}/config", { ...input, body })).data;
    },
    onSuccess: show,
  });
  const result = useRef<HTMLDivElement>(null);
  // The form that was saved is gone, and with it the focus.
  useEffect(() => {
    if (version > 0) result.current?.focus();
  }, [version]);
  return (
    <Stack maw="40rem">
      <Text c="dimmed">{isAdmin ? t.text(practiceName(alias)) : texts.memberNote}</Text>
      <UnsavedDialog isEdited={isEdited} />
      <ThemedForm
        key={version}
        schema={schema as unknown as RJSFSchema}
        uiSchema={createUiSchema(schema)}
        validator={configValidator}
        formData={config}
        noHtml5Validate
        showErrorList={false}
        focusOnFirstError
        // A vendor's `minItems` isn't a number of fields that we add.
        experimental_defaultFormStateBehavior={{ arrayMinItems: { populate: "never" } }}
        readonly={!isAdmin}
        onChange={({ formData = {} }, fieldId) => {
          // The form also reports what it was given.
          if (JSON.stringify(formData) === JSON.stringify(config)) return;
          save.reset();
          setDraft({ config: formData, base });
          if (fieldId !== undefined) setEdited(true);
        }}
        onError={(errors) => setProblems(errors.length)}
        onSubmit={({ formData }) => {
          setProblems(0);
          save.mutate({ body: formData ?? {}, isOverwriting: false });
        }}
      >
        <Stack mt="lg">
          {problems > 0 && (
            <Alert color="danger" variant="light" role="alert" className="notice">
              {t.problems(problems)}
            </Alert>
          )}
          <SaveError<InstallationDto>
            error={save.error}
            onReload={(stored) => {
              save.reset();
              show(stored);
            }}
            onOverwrite={() => save.mutate({ body: config, isOverwriting: true })}
          />
          <div role="status" ref={result} tabIndex={-1} className="results">
            {save.isSuccess && (
              <Alert color="positive" variant="light" className="notice">
                {t.saved}
              </Alert>
            )}
          </div>
          {isAdmin && (
            <Group>
              <Button type="submit" loading={save.isPending}>
                {t.save}
              </Button>
            </Group>
          )}
        </Stack>
      </ThemedForm>
    </Stack>
  );
}
