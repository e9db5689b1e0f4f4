-- Sandbox organisations, in which a vendor installs the draft of a listing before anyone reviews it. The draft is installed as an app of
-- its own, the sandbox app, so that no EHR takes it for the published one.

alter table organisations
  add column kind text not null default 'LIVE' check (kind in ('LIVE', 'SANDBOX')),
  -- The vendor that a sandbox organisation was given to
  add column vendor_id uuid references vendors,
  add constraint organisations_sandbox_has_vendor check ((kind = 'SANDBOX') = (vendor_id is not null));
create index organisations_of_vendor on organisations (vendor_id) where vendor_id is not null;

-- Slugs that begin with `sandbox-` are those of sandbox apps. A constraint that fails names no row: the operator needs to know which apps
-- to give another slug.
do $$
declare
  reserved text;
begin
  select string_agg(slug, ', ') into reserved from (
    select slug from apps where slug like 'sandbox-%'
    union
    select slug from listings where slug like 'sandbox-%'
    order by slug limit 20
  ) named;
  if reserved is not null then
    raise exception 'slugs that begin with sandbox- are reserved; change these in apps and listings, then migrate again: %', reserved
      using errcode = 'check_violation';
  end if;
end
$$;

alter table listings
  drop constraint listings_slug_check,
  add constraint listings_slug_check check (
    slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'
    and length(slug) between 3 and 64
    and slug not in ('search', 'featured', 'categories')
    and slug not like 'sandbox-%'
  ),
  -- When an EHR last said that the sandbox app was launched
  add column sandbox_launched_at timestamptz;
grant update (sandbox_launched_at) on listings to marketplace_service;

alter table apps
  -- The listing whose draft this app is. Set by install_draft() only
  add column sandbox_of uuid unique references listings,
  -- Grows with every change of a sandbox app
  add column sandbox_revision integer check (sandbox_revision >= 1),
  drop constraint apps_slug_check,
  add constraint apps_slug_check check (
    slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'
    and length(slug) between 3 and 64
    and slug not in ('search', 'featured', 'categories')
    and (slug like 'sandbox-%') = (sandbox_of is not null)
  ),
  add constraint apps_sandbox_is_never_published check (
    (sandbox_of is null) = (sandbox_revision is null) and (sandbox_of is null or (status = 'draft' and not featured))
  );
grant select (sandbox_of, sandbox_revision) on apps to marketplace_service;

-- The revision of the sandbox app that EHR and vendor were last told of.
alter table subscriptions add column sandbox_revision integer;
grant update (sandbox_revision) on subscriptions to marketplace_service;

-- A sandbox app is for sandbox organisations of its vendor, and they are for sandbox apps. A missing row is left to the foreign keys.
create function subscriptions_reject_mixed_kinds() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (
    select from organisations organisation, apps app
    where organisation.id = new.organisation_id and app.id = new.app_id and (
      (organisation.kind = 'SANDBOX') <> (app.sandbox_of is not null)
      or (app.sandbox_of is not null) <> (new.sandbox_revision is not null)
      or (app.sandbox_of is not null and organisation.vendor_id <> app.vendor_id)
    )
  ) then
    raise exception 'a sandbox organisation subscribes to sandbox apps of its vendor, and no other organisation does'
      using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger subscriptions_reject_mixed_kinds before insert or update of organisation_id, app_id, sandbox_revision on subscriptions
  for each row execute function subscriptions_reject_mixed_kinds();

-- The revision also grows with the sandbox app that the subscription is to.
create or replace function subscriptions_reject_invalid_changes() returns trigger language plpgsql as $$
begin
  if old.status = 'cancelled' and (
    new.status <> 'cancelled' or new.cancelled_at <> old.cancelled_at or new.revision <> old.revision
    or (new.block_reason is not null and new.block_reason is distinct from old.block_reason)
  ) then
    raise exception 'a cancelled subscription stays cancelled' using errcode = 'restrict_violation';
  end if;
  if old.status = 'paused' and new.status = 'paused' and new.pause_reason <> old.pause_reason then
    raise exception 'the pause reason of a paused subscription can''t change' using errcode = 'restrict_violation';
  end if;
  if new.revision <> old.revision + (
    (new.status, new.fhir_scopes, new.pricing_plan_id, new.quantity, new.sandbox_revision)
    is distinct from (old.status, old.fhir_scopes, old.pricing_plan_id, old.quantity, old.sandbox_revision)
  )::integer then
    raise exception 'revision must increase by one when status, agreed scopes, plan, quantity or sandbox revision change, and only then'
      using errcode = 'restrict_violation';
  end if;
  if new.fhir_scopes <> old.fhir_scopes and not exists (
    select from scope_agreements agreement
    where agreement.subscription_id = new.id
      and agreement.revision = new.revision
      and agreement.fhir_scopes = new.fhir_scopes
  ) then
    raise exception 'nobody has agreed to these scopes' using errcode = 'restrict_violation';
  end if;
  if new.updated_at <= old.updated_at then
    raise exception 'updated_at must increase: % is not after %', new.updated_at, old.updated_at using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;

-- Every attempt to deliver such an event says that it is of a sandbox.
alter table events add column sandbox boolean not null default false;

-- The only way to a sandbox app: makes the draft of a listing one, or updates it, for a sandbox organisation of the vendor. Returns its
-- id. `new_app` and `new_plan` are used the first time. Takes only what an installation uses and what is only shown; links, pictures and
-- agreements of a draft may be unusable yet.
create function install_draft(
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

  if installed.id is null then
    -- A slug has at most 64 characters.
    new_slug := 'sandbox-' || case
      when length(listing.slug) <= 56 then listing.slug
      else rtrim(left(listing.slug, 43), '-') || '-' || left(encode(sha256(convert_to(listing.slug, 'UTF8')), 'hex'), 12)
    end;
    insert into apps (
      id, slug, vendor_id, sandbox_of, sandbox_revision, status, name, summary, description, version, category, icon_url, audience,
      extension_points, smart_launch_url, cds_services_url, fhir_scopes, scope_purposes, config_schema, published_at, updated_at
    ) values (
      new_app, new_slug, listing.vendor_id, given_listing, 1, 'draft', drafted.name, drafted.summary,
      drafted.description, drafted.version, drafted.category, drafted.icon_url, drafted.audience, drafted.extension_points,
      drafted.smart_launch_url, drafted.cds_services_url, drafted.fhir_scopes, drafted.scope_purposes, drafted.config_schema,
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
      config_schema = drafted.config_schema, sandbox_revision = sandbox_revision + 1, updated_at = greatest(given_at, updated_at)
    where id = installed.id;
  end if;
  return installed.id;
end
$$;
revoke execute on function install_draft(uuid, uuid, timestamptz, text, uuid, uuid) from public;
grant execute on function install_draft(uuid, uuid, timestamptz, text, uuid, uuid) to marketplace_service;

-- Sandbox apps in the form of the catalog, which has none of them.
create view sandbox_apps as
select app.id as app_id, app.slug, vendor.slug as vendor_slug, row_to_json(wire) as dto
from apps app
join vendors vendor on vendor.id = app.vendor_id
cross join lateral (
  select
    app.id,
    app.slug,
    app.name,
    app.summary,
    app.description,
    app.icon_url as "iconUrl",
    app.category,
    (
      select row_to_json(made_by) from (select vendor.slug, vendor.name, vendor.website_url as "websiteUrl") made_by
    ) as vendor,
    app.version,
    app.featured,
    app.audience,
    app.extension_points as "extensionPoints",
    app.smart_launch_url as "smartLaunchUrl",
    app.cds_services_url as "cdsServicesUrl",
    app.fhir_scopes as "fhirScopes",
    app.scope_purposes as "scopePurposes",
    app.screenshots,
    app.screenshot_texts as "screenshotTexts",
    app.website_url as "websiteUrl",
    app.support_url as "supportUrl",
    app.privacy_policy_url as "privacyPolicyUrl",
    app.terms_url as "termsUrl",
    array['FREE'] as "pricingModels",
    (select price from starting_prices starting where starting.app_id = app.id) as "startingPrice",
    app.config_schema as "configSchema",
    app.baa_available as "baaAvailable",
    app.baa_required as "baaRequired",
    app.baa_url as "baaUrl",
    app.trust,
    wire_instant(app.published_at) as "publishedAt",
    wire_instant(app.updated_at) as "updatedAt"
) wire
where app.sandbox_of is not null;
grant select on sandbox_apps to marketplace_service;

-- As before, but without sandbox apps, which are of a listing already.
create or replace function adopt_apps() returns integer language plpgsql as $$
declare
  adopted_apps integer;
begin
  insert into listings (app_id, slug, vendor_id, draft, created_at, updated_at)
  select app.id, app.slug, app.vendor_id, (
    select json_object_agg(key, value)
    from json_each(json_build_object(
      'name', app.name,
      'summary', app.summary,
      'description', app.description,
      'category', app.category,
      'version', left(app.version, 64),
      'extensionPoints', app.extension_points,
      'smartLaunchUrl', app.smart_launch_url,
      'fhirScopes', app.fhir_scopes,
      'websiteUrl', app.website_url,
      'supportUrl', app.support_url,
      'privacyPolicyUrl', app.privacy_policy_url,
      'termsUrl', app.terms_url,
      'configSchema', app.config_schema,
      'plans', (
        select coalesce(json_agg(plan.dto order by plan.position, plan.id), '[]') from plan_records plan
        where plan.app_id = app.id and plan.on_sale
      )
    ))
    where json_typeof(value) <> 'null'
  ), coalesce(app.published_at, app.updated_at), app.updated_at
  from apps app
  where app.sandbox_of is null and not exists (select from listings where listings.app_id = app.id);
  get diagnostics adopted_apps = row_count;

  insert into revisions (id, app_id, number, name, version, draft, listing_version, submitted_at, adopted)
  select mint_uuid(), listing.app_id, 1, app.name, left(app.version, 64), listing.draft, listing.version, app.published_at, true
  from listings listing join apps app on app.id = listing.app_id
  where app.published_at is not null and not exists (select from revisions where revisions.app_id = listing.app_id);

  update listings set
    published_revision = 1,
    unpublished_at = (select app.updated_at from apps app where app.id = listings.app_id and app.status <> 'published')
  where published_revision is null
    and exists (select from revisions where revisions.app_id = listings.app_id and number = 1 and adopted);
  return adopted_apps;
end
$$;
