-- Revisions of a listing, their reviews, and approval as the only way into the catalog.

-- What the public sees of a revision, beyond what apps had.
alter table apps
  add column audience text check (audience in ('CLINICIAN', 'PATIENT', 'BACKEND')),
  add column cds_services_url text,
  -- json, not jsonb: in the vendor's order
  add column scope_purposes json not null default '{}' check (json_typeof(scope_purposes) = 'object'),
  add column screenshot_texts text[] not null default '{}',
  -- The SHA-256 digest of the agreement that subscribers accept
  add column baa_document_sha256 text check (baa_document_sha256 ~ '^[0-9a-f]{64}$'),
  add column baa_url text,
  add column baa_required boolean not null generated always as (
    baa_document_sha256 is not null and audience is distinct from 'PATIENT' and fhir_scopes ~ '(^| )(patient|user|system)/'
  ) stored,
  add column trust json check (json_typeof(trust) = 'object'),
  -- The last day of the certification that ends first: the day after, the listing is derived again
  add column certified_until date;
update apps set screenshot_texts = array_fill(''::text, array[cardinality(screenshots)]) where cardinality(screenshots) > 0;
create index apps_by_certified_until on apps (certified_until) where certified_until is not null;

-- The trust facts without certifications that have ended.
create function current_trust(trust json, today date) returns json language sql stable parallel safe return (
  select json_object_agg(
    key,
    case when key = 'certifications' then (
      select coalesce(json_agg(certification order by position), '[]')
      from json_array_elements(value) with ordinality as given(certification, position)
      where (certification ->> 'validUntil')::date >= today
    ) else value end
  )
  from json_each(trust)
);

create function first_certification_end(trust json, today date) returns date language sql stable parallel safe return (
  select min((certification ->> 'validUntil')::date)
  from json_array_elements(coalesce(trust -> 'certifications', '[]')) as certification
  where (certification ->> 'validUntil')::date >= today
);

create or replace view published_apps as
select
  app.id as app_id,
  app.slug,
  app.category,
  app.name,
  app.featured,
  app.published_at,
  app.updated_at,
  searched.name as search_name,
  searched.head as head_words,
  searched.head
    || word_vector(category.description || ' ' || app.description, 'D') as words,
  search_text(
    app.name || ' ' || app.summary || ' ' || vendor.name || ' ' || category.name || ' ' || category.description || ' '
    || app.description
  ) as text,
  row_to_json(wire)::text as app_dto,
  '[' || coalesce(
    (select string_agg(plan.dto, ',' order by plan.position, plan.id) from plans_on_sale plan where plan.app_id = app.id), ''
  ) || ']' as pricing_dto
from apps app
join vendors vendor on vendor.id = app.vendor_id
join categories category on category.category = app.category
cross join lateral (
  select
    search_text(app.name) as name,
    word_vector(app.name, 'A')
      || word_vector(app.summary, 'B')
      || word_vector(vendor.name || ' ' || category.name, 'C')
      || category_mark(app.category) as head
) searched
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
    array(
      select plan.pricing_model from plans_on_sale plan
      where plan.app_id = app.id group by plan.pricing_model order by min(plan.position)
    ) as "pricingModels",
    (select price from starting_prices starting where starting.app_id = app.id) as "startingPrice",
    app.config_schema as "configSchema",
    app.baa_available as "baaAvailable",
    app.baa_required as "baaRequired",
    app.baa_url as "baaUrl",
    current_trust(app.trust, (now() at time zone 'UTC')::date) as trust,
    wire_instant(app.published_at) as "publishedAt",
    wire_instant(app.updated_at) as "updatedAt"
) wire
where app.status = 'published';

-- As before, but the notification names the apps that changed, so that caches keep what they have of all others.
create or replace function refresh_listings(changed uuid[]) returns void language plpgsql as $$
declare
  changed_slugs text[];
begin
  with removed as (
    delete from app_listings listing
    where listing.app_id = any (changed)
      and not exists (select from apps where apps.id = listing.app_id and apps.status = 'published')
    returning slug
  )
  select array_agg(slug) into changed_slugs from removed;

  with fresh as materialized (
    select * from published_apps where app_id = any (changed)
  ),
  known_words as (
    insert into search_words (word, apps)
    select word, count(distinct app_id) from fresh, unnest(string_to_array(fresh.text, ' ')) as word
    where length(word) between 2 and 40
    group by word
    on conflict (word) do update set apps = excluded.apps where search_words.apps = 0
  ),
  searched as (
    insert into app_search (app_id, category, name, head_words, words)
    select app_id, category, search_name, head_words, words from fresh
    on conflict (app_id) do update set
      category = excluded.category, name = excluded.name, head_words = excluded.head_words, words = excluded.words
    where (app_search.words, app_search.head_words) is distinct from (excluded.words, excluded.head_words)
  ),
  popular as (
    insert into app_popularity (app_id, category, featured)
    select app_id, category, featured from fresh
    on conflict (app_id) do update set category = excluded.category, featured = excluded.featured
    where (app_popularity.category, app_popularity.featured) is distinct from (excluded.category, excluded.featured)
  ),
  refreshed as (
    insert into app_listings (
      app_id, slug, category, name, featured, published_at, updated_at, app_dto, pricing_dto
    )
    select app_id, slug, category, name, featured, published_at, updated_at, app_dto, pricing_dto from fresh
    on conflict (app_id) do update set
      slug = excluded.slug, category = excluded.category, name = excluded.name, featured = excluded.featured,
      published_at = excluded.published_at, updated_at = excluded.updated_at, app_dto = excluded.app_dto,
      pricing_dto = excluded.pricing_dto
    returning slug
  )
  select changed_slugs || array_agg(slug) into changed_slugs from refreshed;

  -- No slugs: everything may have changed. A payload has less than 8,000 bytes, and a slug at most 64.
  if cardinality(changed_slugs) > 0 then
    perform pg_notify('catalog_changed', case when cardinality(changed_slugs) <= 100 then array_to_string(changed_slugs, ' ') else '' end);
  end if;
end
$$;

-- The triggers that derive the catalog run with the owner's rights: the service changes `featured`, and nothing else of an app.
alter function refresh_changed_apps() security definer set search_path = pg_catalog, public, pg_temp;
alter function refresh_apps_of_changed_plans() security definer set search_path = pg_catalog, public, pg_temp;
revoke execute on function refresh_changed_apps(), refresh_apps_of_changed_plans() from public;
grant select (featured), update (featured) on apps to marketplace_service;

alter table listings
  -- Set by approve_review() only
  add column published_revision integer,
  add column unpublished_at timestamptz,
  add column suspended_at timestamptz,
  add column suspension_reason text check (length(suspension_reason) between 1 and 2000),
  -- When its vendor last republished it, to limit how often
  add column republished_at timestamptz,
  add constraint listings_suspension_has_reason check ((suspended_at is null) = (suspension_reason is null)),
  add constraint listings_hidden_requires_published check (
    published_revision is not null or (unpublished_at is null and suspended_at is null)
  );
revoke insert on listings from marketplace_service;
grant insert (app_id, slug, vendor_id, draft, encrypted_review_notes, version, created_at, updated_at) on listings
  to marketplace_service;
grant update (unpublished_at, suspended_at, suspension_reason, republished_at) on listings to marketplace_service;
revoke delete on draft_editors from marketplace_service;

-- Nobody stops being an editor.
create function draft_editors_reject_changes() returns trigger language plpgsql as $$
begin
  if new.version < old.version then
    raise exception 'the version of an editor''s last change only grows' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger draft_editors_reject_changes before update on draft_editors
  for each row execute function draft_editors_reject_changes();

-- A draft as it was submitted. It never changes, except that its review notes are encrypted again with a new key.
create table revisions (
  id uuid not null unique,
  app_id uuid references listings,
  number integer check (number > 0),
  name text not null check (length(name) <= 200),
  version text not null check (length(version) <= 64),
  draft json not null check (json_typeof(draft) = 'object'),
  encrypted_review_notes text,
  -- The version of the listing that was submitted
  listing_version integer not null check (listing_version > 0),
  submitted_at timestamptz not null,
  -- The app was in the catalog before there were reviews
  adopted boolean not null default false,
  primary key (app_id, number)
);
grant select, insert (id, app_id, number, name, version, draft, encrypted_review_notes, listing_version, submitted_at) on revisions
  to marketplace_service;
grant update (encrypted_review_notes) on revisions to marketplace_service;
alter table listings add foreign key (app_id, published_revision) references revisions;

-- Who changed the draft since the revision that was public at its submission, and who submitted it. They can't approve it.
create table revision_editors (
  app_id uuid,
  number integer,
  issuer text,
  subject text,
  primary key (app_id, number, issuer, subject),
  foreign key (app_id, number) references revisions
);
grant select, insert on revision_editors to marketplace_service;

-- The files of a revision: they are kept as long as it is.
create table revision_media (
  app_id uuid,
  number integer,
  media_id uuid references media,
  primary key (app_id, number, media_id),
  foreign key (app_id, number) references revisions
);
create index revision_media_by_media on revision_media (media_id);
grant select, insert on revision_media to marketplace_service;

create or replace view used_media as
select app_id, lower(draft ->> 'icon') as media_id from listings where draft ->> 'icon' is not null
union all
select app_id, lower(screenshot ->> 'media')
from listings,
  json_array_elements(case json_typeof(draft -> 'screenshots') when 'array' then draft -> 'screenshots' else '[]' end) as screenshot
where screenshot ->> 'media' is not null
union all
select app_id, lower(draft ->> 'baaDocument') from listings where draft ->> 'baaDocument' is not null
union all
select app_id, lower(draft #>> '{trust,ai,modelCard}') from listings where draft #>> '{trust,ai,modelCard}' is not null
union all
select app_id, media_id::text from revision_media;

-- Only an approval makes files public.
revoke update (published_at), insert on media from marketplace_service;
grant insert (
  id, vendor_id, app_id, kind, object_key, sha256, content_type, bytes, width, height, created_at, stored_at, unused_since
) on media to marketplace_service;

create table reviews (
  id uuid primary key,
  app_id uuid not null,
  number integer not null,
  vendor_id uuid not null references vendors,
  submitted_at timestamptz not null,
  due_at timestamptz not null,
  decision text check (decision in ('approved', 'rejected', 'withdrawn')),
  status text not null generated always as (coalesce(decision, 'open')) stored,
  decided_at timestamptz,
  -- The revision that was public before the decision
  replaced_number integer,
  reasons json not null default '[]' check (json_typeof(reasons) = 'array'),
  foreign key (app_id, number) references revisions,
  unique (app_id, number),
  constraint reviews_decision_has_time check ((decision is null) = (decided_at is null)),
  constraint reviews_rejection_has_reasons check ((coalesce(decision, '') = 'rejected') = (json_array_length(reasons) > 0))
);
create unique index reviews_one_open on reviews (app_id) where decision is null;
create index reviews_by_status on reviews (status, submitted_at, id);
create index reviews_of_vendor on reviews (vendor_id, submitted_at, id);
create index reviews_of_vendor_open on reviews (vendor_id) where decision is null;
create index reviews_open_by_due_at on reviews (due_at) where decision is null;
grant select, insert (id, app_id, number, vendor_id, submitted_at, due_at) on reviews to marketplace_service;
grant update (decision, decided_at, replaced_number, reasons) on reviews to marketplace_service;

create function reviews_reject_invalid_changes() returns trigger language plpgsql as $$
begin
  if old.decision is not null then
    raise exception 'a decided review never changes' using errcode = 'restrict_violation';
  end if;
  -- Only approve_review() can set the published revision.
  if new.decision = 'approved' and not exists (
    select from listings where listings.app_id = new.app_id and listings.published_revision = new.number
  ) then
    raise exception 'an approved revision is the published one' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger reviews_reject_invalid_changes before update on reviews
  for each row execute function reviews_reject_invalid_changes();

-- An app is in the catalog unless its vendor unpublished it or an operator suspended it.
create function listings_update_app_status() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update apps
  set status = case when new.unpublished_at is null and new.suspended_at is null then 'published' else 'withdrawn' end
  where id = new.app_id;
  return null;
end
$$;
revoke execute on function listings_update_app_status() from public;
create trigger listings_update_app_status after update of unpublished_at, suspended_at on listings
  for each row when (
    (old.unpublished_at is null and old.suspended_at is null) <> (new.unpublished_at is null and new.suspended_at is null)
  )
  execute function listings_update_app_status();

-- A new order of plans changes none of them.
create or replace function pricing_plans_reject_changes() returns trigger language plpgsql as $$
begin
  if old.published_at is null then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op = 'UPDATE' then
    if old.retired_at is null
      and to_jsonb(new) - 'retired_at' - 'position' = to_jsonb(old) - 'retired_at' - 'position' then
      return new;
    end if;
  end if;
  raise exception 'a published pricing plan never changes: publish a new one and retire this one'
    using errcode = 'restrict_violation';
end
$$;

-- Makes the plans of a revision the ones on sale, in its order. A plan with an id is on sale already and stays as it is; `new_ids` has one id per
-- plan, used for those without.
create function publish_plans(given_app uuid, plans json, new_ids uuid[], given_at timestamptz) returns void
  language plpgsql as $$
declare
  unknown text;
begin
  select plan ->> 'id' into unknown from json_array_elements(plans) as plan
  where plan ->> 'id' is not null and not exists (
    select from pricing_plans known
    where known.id = (plan ->> 'id')::uuid and known.app_id = given_app and known.published_at is not null and known.retired_at is null
  )
  limit 1;
  if unknown is not null then
    raise exception 'plan % of app % is not on sale', unknown, given_app using errcode = 'foreign_key_violation';
  end if;
  update pricing_plans set retired_at = given_at
  where app_id = given_app and published_at is not null and retired_at is null
    and not exists (select from json_array_elements(plans) as plan where (plan ->> 'id')::uuid = pricing_plans.id);
  update pricing_plans set position = given.position - 1
  from json_array_elements(plans) with ordinality as given(plan, position)
  where pricing_plans.app_id = given_app and pricing_plans.id = (given.plan ->> 'id')::uuid
    and pricing_plans.position <> given.position - 1;
  insert into pricing_plans (
    id, app_id, position, name, description, pricing_model, currency, amount, interval, trial_days, unit_name, included_units,
    tiers, tier_mode, metric, aggregation, features, published_at
  )
  select
    new_ids[position], given_app, position - 1, plan ->> 'name', coalesce(plan ->> 'description', ''), plan ->> 'pricingModel',
    plan ->> 'currency',
    case plan ->> 'pricingModel' when 'FREE' then 0 else (plan ->> 'amount')::numeric end, plan ->> 'interval', coalesce((plan ->> 'trialDays')::integer, 0),
    nullif(plan ->> 'unitName', ''), (plan ->> 'includedUnits')::bigint, (
      -- Readers of the catalog find all fields of a tier.
      select coalesce(json_agg(json_build_object(
        'upTo', tier -> 'upTo', 'unitAmount', coalesce(tier -> 'unitAmount', '0'), 'flatAmount', coalesce(tier -> 'flatAmount', '0')
      ) order by place), '[]')
      from json_array_elements(coalesce(plan -> 'tiers', '[]')) with ordinality as given_tier(tier, place)
    ), plan ->> 'tierMode',
    nullif(plan ->> 'metric', ''), plan ->> 'aggregation',
    array(select json_array_elements_text(coalesce(plan -> 'features', '[]'))), given_at
  from json_array_elements(plans) with ordinality as given(plan, position)
  where plan ->> 'id' is null;
end
$$;
revoke execute on function publish_plans(uuid, json, uuid[], timestamptz) from public;

-- The only way into the catalog: publishes the revision of an open review, unless the caller edited it. Media are at
-- `media_url` followed by their id; `verified` has the positions of the certifications that the operator verified, from 0.
create function approve_review(
  given_review uuid, given_issuer text, given_subject text, given_at timestamptz, media_url text, new_plan_ids uuid[], verified integer[]
) returns void language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  listing listings;
  review reviews;
  draft json;
  public_trust json;
begin
  -- Everything that changes a listing locks it first.
  select listings.* into listing
  from listings join reviews on reviews.app_id = listings.app_id where reviews.id = given_review for update of listings;
  select * into review from reviews where id = given_review for update;
  if review.id is null or review.decision is not null then
    raise exception 'there is no open review %', given_review using errcode = 'restrict_violation';
  end if;
  if not exists (select from revision_editors where app_id = review.app_id and number = review.number) then
    raise exception 'nobody edited revision % of %', review.number, review.app_id using errcode = 'restrict_violation';
  end if;
  if exists (
    select from revision_editors
    where app_id = review.app_id and number = review.number and issuer = given_issuer and subject = given_subject
  ) then
    raise exception 'nobody approves a revision that they edited' using errcode = 'restrict_violation';
  end if;
  select revisions.draft into strict draft from revisions where app_id = review.app_id and number = review.number;
  -- In the order of ids, as everything that locks several files.
  perform from media
  where id in (select media_id from revision_media where app_id = review.app_id and number = review.number)
  order by id for update;
  if exists (
    select from (
      select draft ->> 'icon' union all
      select shot ->> 'media' from json_array_elements(coalesce(draft -> 'screenshots', '[]')) as shot union all
      select draft ->> 'baaDocument' union all
      select draft #>> '{trust,ai,modelCard}'
    ) as needed (media_id)
    where media_id is not null and not exists (
      select from revision_media files join media on media.id = files.media_id
      where files.app_id = review.app_id and files.number = review.number and files.media_id = needed.media_id::uuid
        and media.app_id = review.app_id and media.stored_at is not null and media.deleting_at is null
    )
  ) then
    raise exception 'revision % of % lacks a file', review.number, review.app_id using errcode = 'foreign_key_violation';
  end if;
  update media set published_at = given_at
  where published_at is null and app_id = review.app_id
    and id in (select media_id from revision_media where app_id = review.app_id and number = review.number);

  select json_object_agg(
    key,
    case when key = 'certifications' then (
      select coalesce(json_agg(
        jsonb_set(certification::jsonb, '{verifiedBy}', case when position - 1 = any (verified) then '"operator"' else 'null' end::jsonb)
        order by position
      ), '[]')
      from json_array_elements(value) with ordinality as given(certification, position)
    ) else value end
  ) into public_trust
  from json_each(draft -> 'trust');

  insert into apps (
    id, slug, vendor_id, category, status, name, summary, description, icon_url, version, extension_points, smart_launch_url,
    fhir_scopes, screenshots, website_url, support_url, privacy_policy_url, terms_url, config_schema, baa_available, published_at,
    updated_at, audience, cds_services_url, scope_purposes, screenshot_texts, baa_document_sha256, baa_url, trust, certified_until
  ) values (
    listing.app_id, listing.slug, listing.vendor_id, draft ->> 'category',
    case when listing.unpublished_at is null and listing.suspended_at is null then 'published' else 'withdrawn' end,
    draft ->> 'name', draft ->> 'summary', draft ->> 'description', media_url || (draft ->> 'icon'), draft ->> 'version',
    array(select json_array_elements_text(coalesce(draft -> 'extensionPoints', '[]'))), draft ->> 'smartLaunchUrl',
    coalesce(draft ->> 'fhirScopes', ''),
    array(select media_url || (shot ->> 'media') from json_array_elements(coalesce(draft -> 'screenshots', '[]')) as shot),
    draft ->> 'websiteUrl', draft ->> 'supportUrl', draft ->> 'privacyPolicyUrl', draft ->> 'termsUrl', draft -> 'configSchema',
    draft ->> 'baaDocument' is not null, given_at, given_at, draft ->> 'audience', draft ->> 'cdsServicesUrl',
    coalesce(draft -> 'scopePurposes', '{}'),
    array(select coalesce(shot ->> 'text', '') from json_array_elements(coalesce(draft -> 'screenshots', '[]')) as shot),
    (select sha256 from media where id = (draft ->> 'baaDocument')::uuid), media_url || (draft ->> 'baaDocument'), public_trust,
    first_certification_end(public_trust, (given_at at time zone 'UTC')::date)
  )
  on conflict (id) do update set
    category = excluded.category, status = excluded.status, name = excluded.name, summary = excluded.summary,
    description = excluded.description, icon_url = excluded.icon_url, version = excluded.version,
    extension_points = excluded.extension_points, smart_launch_url = excluded.smart_launch_url,
    fhir_scopes = excluded.fhir_scopes, screenshots = excluded.screenshots, website_url = excluded.website_url,
    support_url = excluded.support_url, privacy_policy_url = excluded.privacy_policy_url, terms_url = excluded.terms_url,
    config_schema = excluded.config_schema, baa_available = excluded.baa_available,
    published_at = coalesce(apps.published_at, excluded.published_at),
    updated_at = greatest(excluded.updated_at, apps.updated_at), audience = excluded.audience,
    cds_services_url = excluded.cds_services_url, scope_purposes = excluded.scope_purposes,
    screenshot_texts = excluded.screenshot_texts, baa_document_sha256 = excluded.baa_document_sha256, baa_url = excluded.baa_url,
    trust = excluded.trust, certified_until = excluded.certified_until;
  perform publish_plans(review.app_id, coalesce(draft -> 'plans', '[]'), new_plan_ids, given_at);

  update listings set published_revision = review.number where app_id = review.app_id;
  update reviews set decision = 'approved', decided_at = given_at, replaced_number = listing.published_revision where id = given_review;
end
$$;
revoke execute on function approve_review(uuid, text, text, timestamptz, text, uuid[], integer[]) from public;
grant execute on function approve_review(uuid, text, text, timestamptz, text, uuid[], integer[]) to marketplace_service;

-- Removes certifications that have ended from what the public sees, for at most `max_apps` apps. Returns their number.
create function end_certifications(max_apps integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  today date := (now() at time zone 'UTC')::date;
  ended integer;
begin
  perform pg_advisory_xact_lock(hashtext('catalog'));
  update apps set certified_until = first_certification_end(trust, today)
  where id in (select id from apps where certified_until < today order by certified_until limit least(max_apps, 1000));
  get diagnostics ended = row_count;
  return ended;
end
$$;
revoke execute on function end_certifications(integer) from public;
grant execute on function end_certifications(integer) to marketplace_service;

-- Gives each app without a listing a listing whose draft and, if it was ever public, first revision is the app as it is. The icon and
-- the screenshots are no uploads, so the draft has none: the app keeps them until its next revision.
create function adopt_apps() returns integer language plpgsql as $$
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
  where not exists (select from listings where listings.app_id = app.id);
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
revoke execute on function adopt_apps() from public;
select adopt_apps();
select refresh_listings(array(select app_id from app_listings));
