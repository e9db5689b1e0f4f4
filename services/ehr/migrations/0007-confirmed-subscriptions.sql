-- An app is installed only once the marketplace has confirmed it. The holder of one organisation's signing secret can
-- send any event; what such an event says of an app is used no more, and an app that the marketplace doesn't know is not shown.

-- Browsers are sent to these: https, and http on a loopback address for the local stack only.
create function is_web_url(url text) returns boolean language sql immutable parallel safe return
  length(url) <= 2048
  and url ~ '^(https://[^\s/]\S*|http://(localhost|127([.]\d{1,3}){3}|\[::1\])(:\d{1,5})?(/\S*)?)$';

-- What was read before this rule and breaks it is unknown again, until the catalog is read with a URL that can be used.
update apps set id = null, name = null, icon_url = null, category = null, extension_points = null, smart_launch_url = null,
    fhir_scopes = null, schema_known = false, etag = null, fetched_at = null
  where not (is_web_url(icon_url) and coalesce(is_web_url(smart_launch_url), true));

alter table apps
  -- When the catalog last responded that it has no such app; null: it has it, or was never read
  add column catalog_absent_at timestamptz(3),
  add constraint icon_url_is_https check (is_web_url(icon_url)),
  add constraint smart_launch_url_is_https check (is_web_url(smart_launch_url)),
  add constraint facts_are_complete check (
    num_nonnulls(id, name, icon_url, category, extension_points, fhir_scopes) in (0, 6)
  );

-- When the marketplace listed the subscription, or its catalog was found to have the app; it stays confirmed. Only where
-- the app's facts are known. Existing rows get the default without being rewritten.
alter table subscriptions add column confirmed_at timestamptz(3) default now();
alter table subscriptions alter column confirmed_at drop default;
update subscriptions set confirmed_at = null from apps where apps.slug = app_slug and apps.id is null;
create index subscriptions_unconfirmed on subscriptions (org_alias, app_slug)
  where confirmed_at is null and status <> 'cancelled';
create index subscriptions_unconfirmed_of_app on subscriptions (app_slug, org_alias)
  where confirmed_at is null and status <> 'cancelled';

-- An installation is derived from confirmed live subscriptions only. Its configuration is kept, as after cancelling.
update installations set status = 'removed', removed_at = now(), updated_at = now()
  from apps where apps.slug = app_slug and apps.id is null and installations.status <> 'removed';
alter table installations drop column app_as_told;

-- Processes keep in memory which apps of an organisation wait for confirmation.
create trigger subscriptions_unconfirmed_changed after insert or update on subscriptions for each row
  when (new.confirmed_at is null) execute function installations_changed();

alter table organisations
  -- The rate of the catalog requests that the organisation's events cause (generic cell rate algorithm)
  add column app_fetches_until timestamptz(3),
  -- When its list was last requested because of a subscription to an app that the catalog doesn't have
  add column quarantine_checked_at timestamptz(3),
  -- Confirmed live subscriptions that the marketplace's list lacked at the last reconciliation
  add column unlisted integer not null default 0 check (unlisted >= 0);
create index organisations_unlisted on organisations (unlisted) where unlisted > 0;
grant update (app_fetches_until, quarantine_checked_at, unlisted) on organisations to ehr_service;
