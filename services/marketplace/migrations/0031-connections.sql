-- How an installed app signs in: what EHRs report about the client of a subscription, and the client of a sandbox app.

-- What the organisation's EHR has reported last. It stays when the subscription ends.
create table connections (
  subscription_id uuid primary key references subscriptions,
  status text not null check (status in ('pending', 'ready', 'failed')),
  client_id text check (client_id ~ '^[ -~]+$' and length(client_id) <= 2048),
  fhir_base_url text check (is_web_url(fhir_base_url)),
  reason text check (length(reason) between 1 and 500),
  updated_at timestamptz(3) not null,
  -- The times of the last changes, oldest first, to limit how many there are in an hour
  changed_at timestamptz(3)[] not null,
  constraint connections_ready_has_client check (status <> 'ready' or (client_id is not null and fhir_base_url is not null)),
  constraint connections_failed_has_reason check (status <> 'failed' or reason is not null),
  constraint connections_changes_are_bounded check (
    cardinality(changed_at) between 1 and 30 and changed_at[cardinality(changed_at)] = updated_at
  )
);
grant select, insert on connections to marketplace_service;
grant update (status, client_id, fhir_base_url, reason, updated_at, changed_at) on connections to marketplace_service;

-- The client of a published app is cached until it changes. The catalog's own notifications don't suffice: an unpublished app has a client,
-- too, whose revision can be replaced and which can be suspended.
create function listings_notify_client_changed() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  perform pg_notify('catalog_changed', new.slug);
  return null;
end
$$;
create trigger listings_notify_client_changed after update of published_revision, suspended_at on listings
  for each row when (
    (old.published_revision, old.suspended_at) is distinct from (new.published_revision, new.suspended_at)
  )
  execute function listings_notify_client_changed();

create function suspensions_notify_client_changed() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  perform pg_notify('catalog_changed', slug) from listings where app_id = new.app_id;
  return null;
end
$$;
create trigger suspensions_notify_client_started after insert on suspensions
  for each row execute function suspensions_notify_client_changed();
create trigger suspensions_notify_client_changed after update of state on suspensions
  for each row when ((old.state in ('pausing', 'paused')) <> (new.state in ('pausing', 'paused')))
  execute function suspensions_notify_client_changed();

-- Of a sandbox app only: the client of a published app is in its revision.
alter table apps
  add column sandbox_oauth json check (json_typeof(sandbox_oauth) = 'object'),
  add constraint apps_oauth_of_sandbox_only check (sandbox_oauth is null or sandbox_of is not null);

-- The draft's `oauth`, too. It is taken as it is: the service installs no draft with an error in it.
create or replace function install_draft(
  given_listing uuid, given_organisation uuid, given_at timestamptz, given_icon_url text, new_app uuid, new_plan uuid
) returns uuid language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  listing listings;
  installed apps;
  drafted apps;
  new_slug text;
begin
  -- Everything that changes a listing locks it first.
  select * into listing from listings where app_id = given_listing for update;
  if listing.app_id is null or not exists (
    select from organisations
    where id = given_organisation and kind = 'SANDBOX' and vendor_id = listing.vendor_id
  ) then
    raise exception 'organisation % is no sandbox of the vendor of listing %', given_organisation, given_listing
      using errcode = 'restrict_violation';
  end if;

  select * into installed from apps where sandbox_of = given_listing;
  drafted := installed;
  drafted.name := listing.draft ->> 'name';
  drafted.summary := coalesce(listing.draft ->> 'summary', '');
  drafted.description := coalesce(listing.draft ->> 'description', '');
  drafted.version := coalesce(listing.draft ->> 'version', '');
  drafted.category := listing.draft ->> 'category';
  drafted.icon_url := given_icon_url;
  drafted.audience := listing.draft ->> 'audience';
  drafted.extension_points := array(select json_array_elements_text(coalesce(listing.draft -> 'extensionPoints', '[]')));
  drafted.smart_launch_url := listing.draft ->> 'smartLaunchUrl';
  drafted.cds_services_url := listing.draft ->> 'cdsServicesUrl';
  drafted.fhir_scopes := coalesce(listing.draft ->> 'fhirScopes', '');
  drafted.scope_purposes := coalesce(listing.draft -> 'scopePurposes', '{}');
  drafted.config_schema := listing.draft -> 'configSchema';
  drafted.sandbox_oauth := listing.draft -> 'oauth';

  if installed.id is null then
    -- A slug has at most 64 characters.
    new_slug := 'sandbox-' || case
      when length(listing.slug) <= 56 then listing.slug
      else rtrim(left(listing.slug, 43), '-') || '-' || left(encode(sha256(convert_to(listing.slug, 'UTF8')), 'hex'), 12)
    end;
    insert into apps (
      id, slug, vendor_id, sandbox_of, sandbox_revision, status, name, summary, description, version, category, icon_url, audience,
      extension_points, smart_launch_url, cds_services_url, fhir_scopes, scope_purposes, config_schema, sandbox_oauth,
      published_at, updated_at
    ) values (
      new_app, new_slug, listing.vendor_id, given_listing, 1, 'draft', drafted.name, drafted.summary,
      drafted.description, drafted.version, drafted.category, drafted.icon_url, drafted.audience, drafted.extension_points,
      drafted.smart_launch_url, drafted.cds_services_url, drafted.fhir_scopes, drafted.scope_purposes, drafted.config_schema,
      drafted.sandbox_oauth,
      -- Required in the form that the catalog's readers know: when it was first installed
      given_at, given_at
    );
    insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, published_at)
    values (new_plan, new_app, 0, 'Sandbox', 'Never charged', 'FREE', 'USD', 0, given_at);
    return new_app;
  end if;

  -- As text, because the order of a config schema's keys is the vendor's. No statement if nothing changes: it would lock the catalog.
  if row_to_json(drafted)::text <> row_to_json(installed)::text then
    update apps set
      name = drafted.name, summary = drafted.summary, description = drafted.description, version = drafted.version,
      category = drafted.category, icon_url = drafted.icon_url, audience = drafted.audience,
      extension_points = drafted.extension_points, smart_launch_url = drafted.smart_launch_url,
      cds_services_url = drafted.cds_services_url, fhir_scopes = drafted.fhir_scopes, scope_purposes = drafted.scope_purposes,
      config_schema = drafted.config_schema, sandbox_oauth = drafted.sandbox_oauth, sandbox_revision = sandbox_revision + 1,
      updated_at = greatest(given_at, updated_at)
    where id = installed.id;
  end if;
  return installed.id;
end
$$;

-- What a sandbox app's client is made of. Its links are left out as in `sandbox_apps`.
create view sandbox_clients as
select
  app.id as app_id,
  app.slug,
  json_strip_nulls(json_build_object(
    'name', app.name,
    'version', nullif(app.version, ''),
    'audience', app.audience,
    'fhirScopes', app.fhir_scopes,
    'oauth', app.sandbox_oauth
  )) as draft,
  app.icon_url
from apps app
where app.sandbox_of is not null;
grant select on sandbox_clients to marketplace_service;
