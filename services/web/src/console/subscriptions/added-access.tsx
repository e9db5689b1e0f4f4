import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { AccessList } from "../access-list.tsx";
import { marketplace } from "../api/apis.ts";
import { appQuery } from "../api/catalog-queries.ts";
import { practiceName } from "../practice-name.ts";
import { texts } from "../texts.ts";
import { type ActionDialogProps, ActionFrame } from "./action-dialogs.tsx";
import { useAction } from "./use-action.ts";

export interface AddedAccessProps {
  subscription: ListedSubscriptionDto;
  isAdmin: boolean;
  onReview: () => void;
}

/** What a new version asks for beyond what was agreed to. */
export function AddedAccess({ subscription, isAdmin, onReview }: AddedAccessProps) {
  const t = texts.addedAccess;
  const { app, appSlug, pendingScopes } = subscription;
  if (pendingScopes === "") return null;
  return (
    <Alert color="warning" variant="light" className="notice warning" title={t.title(app?.name ?? appSlug)}>
      <Stack gap="sm">
        <Text size="sm">{t.text}</Text>
        <AddedScopes subscription={subscription} />
        {isAdmin ? (
          <Group>
            <Button onClick={onReview}>{t.review}</Button>
          </Group>
        ) : (
          <Text size="sm">{t.member}</Text>
        )}
      </Stack>
    </Alert>
  );
}

/** With the vendor's purposes, if the app is still in the catalog. */
function AddedScopes({ subscription: { appSlug, pendingScopes } }: Pick<AddedAccessProps, "subscription">) {
  const { data: app } = useQuery(appQuery(appSlug));
  return <AccessList fhirScopes={pendingScopes} purposes={app?.scopePurposes ?? {}} isPart />;
}

/** One agrees to what is shown: if the app has other scopes by now, the API refuses it. */
export function ConsentDialog({ alias, subscription, name, isOpen, onClose, onDone }: ActionDialogProps) {
  const t = texts.consentDialog;
  const { id, fhirScopes, pendingScopes } = subscription;
  const action = useAction({
    alias,
    body: { fhirScopes: `${fhirScopes} ${pendingScopes}`.trim() },
    run: (body, headers) => marketplace("POST /subscriptions/{id}/consent", { path: { id }, body, headers }),
    onDone,
  });
  return (
    <ActionFrame
      isOpen={isOpen}
      title={t.title(name)}
      button={t.button}
      keep={t.keep}
      isDisabled={pendingScopes === ""}
      action={action}
      onClose={onClose}
    >
      <Text>{t.text(name, practiceName(alias))}</Text>
      <AddedScopes subscription={subscription} />
      <Text c="dimmed">{t.stays}</Text>
    </ActionFrame>
  );
}
