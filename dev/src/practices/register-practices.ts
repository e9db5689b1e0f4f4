import { secretOwner } from "@ehr-marketplace/marketplace/organisation";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { withClient } from "@ehr-marketplace/test-kit";
import { v7 as uuid } from "uuid";
import { developmentEncryptionKeys, loopbackNetworks } from "../service-environments.ts";

export interface Practice {
  alias: string;
  id: string;
  secret: string;
}

/** Inserts practices with their callback URLs into the database. */
export async function registerPractices(
  ownerUrl: string,
  practices: { count: number; callbackUrl: string | null | ((index: number) => string); prefix?: string },
): Promise<Practice[]> {
  const { callbackUrl } = practices;
  const encryption = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
  const made = Array.from({ length: practices.count }, (_, index): Practice => {
    const id = uuid();
    return { id, alias: `${practices.prefix ?? "practice"}-${index + 1}`, secret: `secret of practice ${index + 1}` };
  });
  await withClient(ownerUrl, (client) =>
    client.query(
      `insert into organisations
         (id, alias, display_name, callback_url, callback_networks, encrypted_secret, created_at, updated_at)
       select id, alias, alias, url, $5::cidr[], encrypted_secret, now(), now()
       from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as given (id, alias, encrypted_secret, url)`,
      [
        made.map(({ id }) => id),
        made.map(({ alias }) => alias),
        made.map(({ id, secret }) => encryption.encrypt(secret, secretOwner(id))),
        made.map((_, index) => (typeof callbackUrl === "function" ? callbackUrl(index) : callbackUrl)),
        loopbackNetworks,
      ],
    ),
  );
  return made;
}

/** Subscribes practices to an app, each with its event, audit entry and agreement, and returns the subscriptions' ids. */
export function insertSubscribers(
  ownerUrl: string,
  appSlug: string,
  practices: Pick<Practice, "id">[],
): Promise<string[]> {
  return withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `with offer as (
         select apps.id as app_id, apps.slug, apps.vendor_id, plan.id as plan_id from apps join pricing_plans plan on app_id = apps.id
         where apps.slug = $1 limit 1
       ), created as (
         insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
         select mint_uuid(), practice, app_id, plan_id, 'active', now(), now(), 1 from unnest($2::uuid[]) practice, offer
         returning *
       ), recorded as (
         insert into events (id, event, vendor_id, subscription_id, sequence, occurred_at, payload)
         select mint_uuid(), 'subscription.created', vendor_id, created.id, 1, created_at, json_build_object(
           'subscription', json_build_object('id', created.id, 'status', 'active'), 'timestamp', wire_instant(created_at)
         )::text from created, offer
       ), agreed as (
         insert into scope_agreements (subscription_id, revision, fhir_scopes, issuer, subject, agreed_at)
         select id, 1, fhir_scopes, 'https://id.example', 'admin', created_at from created
       ), audited as (
         insert into audit_entries
           (id, at, actor_issuer, actor_subject, actor_role, on_behalf_of, action, target_kind, target_id, request_id, after)
         select mint_uuid(), created.created_at, 'https://id.example', 'admin', 'org-admin', alias, 'subscription.create',
           'subscription', created.id::text, 'inserted', '{}'
         from created join organisations on organisations.id = organisation_id
       )
       select id from created`,
      [appSlug, practices.map(({ id }) => id)],
    );
    return rows.map(({ id }) => id);
  });
}
