COMMENT ON SCHEMA public IS 'The marketplace';

CREATE COLLATION public.case_insensitive (provider = icu, deterministic = false, locale = 'und-u-ks-level2');

CREATE EXTENSION IF NOT EXISTS fuzzystrmatch WITH SCHEMA public;

COMMENT ON EXTENSION fuzzystrmatch IS 'determine similarities and distance between strings';

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

CREATE EXTENSION IF NOT EXISTS unaccent WITH SCHEMA public;

COMMENT ON EXTENSION unaccent IS 'text search dictionary that removes accents';

CREATE FUNCTION public.adopt_apps() RETURNS integer
    LANGUAGE plpgsql
    AS $$
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

CREATE TEXT SEARCH DICTIONARY public.catalog_stem (
    TEMPLATE = pg_catalog.snowball,
    language = 'english' );

CREATE FUNCTION public.search_stem(word text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN COALESCE((ts_lexize('public.catalog_stem'::regdictionary, word))[1], word);

CREATE FUNCTION public.any_of(words text[]) RETURNS tsquery
    LANGUAGE sql STABLE
    RETURN (SELECT (string_agg(DISTINCT quote_literal(public.search_stem(word.word)), ' | '::text))::tsquery AS string_agg FROM unnest(any_of.words) word(word));

CREATE FUNCTION public.approve_review(given_review uuid, given_issuer text, given_subject text, given_at timestamp with time zone, media_url text, new_plan_ids uuid[], verified integer[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.apps_reject_unknown_extension_points() RETURNS trigger
    LANGUAGE plpgsql
    AS $_$
declare
  unknown text;
begin
  select point into unknown
  from unnest(new.extension_points) as point
  where point !~ '^cds:[a-z]+(-[a-z]+)*$'
    and not exists (select from extension_points where extension_points.name = point)
  limit 1;
  if unknown is not null then
    raise exception 'extension point "%" is not in the registry', unknown using errcode = 'foreign_key_violation';
  end if;
  return new;
end
$_$;

CREATE FUNCTION public.are_hook_names(names text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (NOT (EXISTS (SELECT FROM unnest(are_hook_names.names) each(name) WHERE (((length(each.name) <= 96) AND (each.name ~ '^[a-z]+(-[a-z]+)*$'::text)) IS NOT TRUE))));

CREATE FUNCTION public.is_web_url(url text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((length(url) <= 2048) AND (url ~ '^(https://[^\s/]\S*|http://(localhost|127([.]\d{1,3}){3}|\[::1\])(:\d{1,5})?(/\S*)?)$'::text));

CREATE FUNCTION public.are_web_urls(urls text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (NOT (EXISTS (SELECT FROM unnest(are_web_urls.urls) each(url) WHERE (public.is_web_url(each.url) IS NOT TRUE))));

CREATE FUNCTION public.audit_entries_reject_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'the audit log is append-only' using errcode = 'restrict_violation';
end
$$;

CREATE FUNCTION public.baa_agreements_reject_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'an agreement is never changed or deleted' using errcode = 'restrict_violation';
end
$$;

CREATE FUNCTION public.carried_over_reject_additions() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if exists (
    select from (select distinct month from added) carried
    where not exists (
      select from statement_months
      where statement_months.month = carried.month - interval '1 month' and status = 'closing' and phase = 'totalling'
    )
  ) then
    raise exception 'the month isn''t being closed' using errcode = 'restrict_violation';
  end if;
  return null;
end
$$;

CREATE FUNCTION public.category_mark(category text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_to_tsvector(ARRAY[('#'::text || category)]);

CREATE FUNCTION public.count_listings() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if tg_op in ('UPDATE', 'DELETE') then
    update category_counts counted set apps = counted.apps - gone.apps
    from (select category, count(*) as apps from before group by category) gone
    where counted.category = gone.category;
  end if;
  if tg_op in ('UPDATE', 'INSERT') then
    update category_counts counted set apps = counted.apps + come.apps
    from (select category, count(*) as apps from after group by category) come
    where counted.category = come.category;
  end if;
  return null;
end
$$;

CREATE FUNCTION public.credits_reject_above_charge() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  credited numeric;
begin
  select subscriptions.organisation_id, subscriptions.app_id, pricing_plans.currency
    into strict new.organisation_id, new.app_id, new.currency
    from subscriptions join pricing_plans on pricing_plans.id = pricing_plan_id where subscriptions.id = new.subscription_id;
  -- The account's credits are given one after the other, and none while the worker takes a step of the month.
  perform pg_advisory_xact_lock(hashtextextended(format('account %s %s', new.organisation_id, new.app_id), 0));
  perform from statement_months where month = new.month for key share;
  if exists (select from statement_months where month >= new.month and status <> 'open') then
    raise exception 'a credit is given in an open month' using errcode = 'restrict_violation';
  end if;
  select coalesce(sum(amount), 0), coalesce(max(number) filter (where month = new.month), 0) + 1 into credited, new.number
    from credits
    where organisation_id = new.organisation_id and app_id = new.app_id and currency = new.currency
      and month >= new.month - interval '3 months';
  if credited + new.amount > new.charged then
    raise exception 'an account is credited at most what it was charged' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.credits_reject_changes() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  raise exception 'a credit can''t change' using errcode = 'restrict_violation';
end
$$;

CREATE FUNCTION public.current_trust(trust json, today date) RETURNS json
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT json_object_agg(json_each.key, CASE WHEN (json_each.key = 'certifications'::text) THEN (SELECT COALESCE(json_agg(given.certification ORDER BY given."position"), '[]'::json) AS "coalesce" FROM json_array_elements(json_each.value) WITH ORDINALITY given(certification, "position") WHERE (((given.certification ->> 'validUntil'::text))::date >= current_trust.today)) ELSE json_each.value END) AS json_object_agg FROM json_each(current_trust.trust) json_each(key, value));

CREATE FUNCTION public.delete_draft(given_listing uuid, given_at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform from listings where app_id = given_listing for update;
  if exists (select from revisions where app_id = given_listing) then
    raise exception 'listing % was submitted', given_listing using errcode = 'restrict_violation';
  end if;
  if exists (
    select from subscriptions join apps on apps.id = subscriptions.app_id
    where apps.sandbox_of = given_listing and subscriptions.status <> 'cancelled'
  ) then
    raise exception 'listing % is installed in a sandbox', given_listing using errcode = 'restrict_violation';
  end if;
  -- An upload in progress stores its object later: the daily job deletes that one, which nothing uses.
  update media set deleting_at = given_at where app_id = given_listing and deleting_at is null and stored_at is not null;
  delete from draft_editors where app_id = given_listing;
  delete from cds_discoveries where app_id = given_listing;
  insert into deleted_drafts (app_id, slug, deleted_at)
  select app_id, slug, given_at from listings
  where app_id = given_listing and exists (select from apps where sandbox_of = given_listing);
  delete from listings where app_id = given_listing;
end
$$;

CREATE FUNCTION public.delete_unused_search_words(given text[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
declare
  deleted integer;
begin
  perform pg_advisory_xact_lock(hashtext('catalog'));
  delete from search_words known
  where known.word = any (given)
    and not known.in_synonyms
    and not exists (select from app_search where tier = 0 and words @@ any_of(array[known.word]))
    and not exists (select from app_search where tier = 1 and words @@ any_of(array[known.word]))
    and not exists (select from app_search where tier = 2 and words @@ any_of(array[known.word]))
    and not exists (select from app_search where tier = 3 and words @@ any_of(array[known.word]))
    and not exists (select from app_search where tier = 4 and words @@ any_of(array[known.word]));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

CREATE FUNCTION public.draft_editors_reject_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if new.version < old.version then
    raise exception 'the version of an editor''s last change only grows' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.drop_attempt_partition(day date, kept_days integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
declare
  floor_days integer;
begin
  select least_days into strict floor_days from public.delivery_log_retention;
  if (day >= '2000-01-01' and day < (now() at time zone 'UTC')::date - greatest(kept_days, floor_days)) is not true then
    raise exception 'the log of % is not old enough', day;
  end if;
  execute format('drop table if exists public.%I', 'delivery_attempts_' || to_char(day, 'YYYYMMDD'));
  return true;
exception when lock_not_available then
  return false;
end
$$;

CREATE FUNCTION public.drop_usage_partition(day date) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
begin
  if (day >= '2000-01-01' and day < (now() at time zone 'UTC')::date - interval '13 months') is not true then
    raise exception 'the usage of % is not old enough', day;
  end if;
  execute format('drop table if exists public.%I', 'usage_records_' || to_char(day, 'YYYYMMDD'));
  return true;
exception when lock_not_available then
  return false;
end
$$;

CREATE FUNCTION public.end_certifications(max_apps integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.events_set_vendor() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  select apps.vendor_id into new.vendor_id
  from subscriptions join apps on apps.id = subscriptions.app_id where subscriptions.id = new.subscription_id;
  return new;
end
$$;

CREATE FUNCTION public.first_certification_end(trust json, today date) RETURNS date
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT min(((certification.value ->> 'validUntil'::text))::date) AS min FROM json_array_elements(COALESCE((first_certification_end.trust -> 'certifications'::text), '[]'::json)) certification(value) WHERE (((certification.value ->> 'validUntil'::text))::date >= first_certification_end.today));

CREATE FUNCTION public.install_draft(given_listing uuid, given_organisation uuid, given_at timestamp with time zone, given_icon_url text, new_app uuid, new_plan uuid) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.is_stop_word(word text) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN (ts_lexize('english_stem'::regdictionary, word) = '{}'::text[]);

CREATE FUNCTION public.listings_notify_client_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform pg_notify('catalog_changed', new.slug);
  return null;
end
$$;

CREATE FUNCTION public.listings_update_app_status() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  update apps
  set status = case when new.unpublished_at is null and new.suspended_at is null then 'published' else 'withdrawn' end
  where id = new.app_id;
  return null;
end
$$;

CREATE FUNCTION public.lock_catalog() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform pg_advisory_xact_lock(hashtext('catalog'));
  return null;
end
$$;

CREATE FUNCTION public.media_keep_purged() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if tg_op = 'DELETE' or new.purged_at is distinct from old.purged_at then
    raise exception 'media % is purged for ever', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.mint_uuid() RETURNS uuid
    LANGUAGE sql PARALLEL SAFE
    RETURN (encode(set_bit(set_bit(OVERLAY(uuid_send(gen_random_uuid()) PLACING SUBSTRING(int8send(((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric))::bigint) FROM 3) FROM 1 FOR 6), (52)::bigint, 1), (53)::bigint, 1), 'hex'::text))::uuid;

CREATE FUNCTION public.name_skeleton(name text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN "left"(replace(CASE WHEN (name ~ '^[ -~]*$'::text) THEN translate(name, '|01ABCDEFGHIJKLMNOPQRSTUVWXYZi !"#$%&''()*+,-./:;<=>?@[\]^_`{}~'::text, 'lolabcdefghljklmnopqrstuvwxyzl'::text) ELSE lower((translate(NORMALIZE(translate(name, '©®℠™'::text, ''::text), NFKD), '|01ABCDEFGHIJKLMNOPQRSTUVWXYZiÐØðøĐđĦħıŁłŦŧƀƂƃƄƅƉƋƌƍƑƒƔƖƗƙƚƜƝƞƟƥƦƧƨƭƮƲƴƵƶƷƻƼƽǀǤǥȜȝȠȢȣȤȥȻȼȽȾɃɄɆɇɈɉɌɍɎɏɑɓɖɗɜɠɡɣɦɨɩɪɫɭɯɲɳɵɼɽʀʂʈʉʋʏʐʒʝʠͿΑΒΓΕΖΗΘΙΚΜΝΟΡΤΥΧαβγεζηθικμνορστυχϜϝϨϩϳϺϻЅІЈЋАБВГЕЗКМНОРСТУХЬабвгезкмнорстухьѕіјћѠѡѢѣѲѳѴѵҌҍҒғҘҙҚқҞҟҢңҪҫҬҭҮүҰұҲҳҺһҼҽҾҿӀӇӈӉӊӍӎӏӠӡӨөԀԁԌԍԚԛԜԝԱԳԶՀՈՍՏՑՔՕագզհոռստցքօוטןסاه١٥٧ھہە۱۵۷ۿ߀ߊ०০৪৭੦੧੪૦ଠ୦୨௦౦೦ഠ൦൭๐໐ဝ၀ყჿሀበዐᎠᎡᎢᎥᎩᎪᎫᎬᎱᎳᎷᎻᎽᎾᏀᏂᏃᏇᏌᏎᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏫᏮᏲᏳᏴᏺᏻᏼᐯᑌᑎᑭᑯᑲᑳᒍᒥᒪᒿᕁᕼᕽᖇᖯᖴᗅᗞᗪᗯᗰᗷᚷᛁᛕᛖᲀᲂᲃᲄᲅᲇᲧᲿᴄᴏᴑᴜᴠᴡᴢᴦᵮᵰᵲᵴᵵᵶᵻᵼᵽᵾᶃᶌẝỾỿⱢⱣⱤⱦⱧⱨⱩⱪⱭⲄⲅⲎⲏⲒⲓⲔⲕⲘⲙⲚⲛⲞⲟⲢⲣⲤⲥⲦⲧⲨⲩⲬⲭⳊⳋⳌⳍⳐⳑⳒⳓⴱⴸⴹⵁⵏⵔⵕⵝ〇ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴꓵꙄꙅꙆꙇꚔꚕꛟꛯꜱꝀꝁꝊꝋꝚꝛꝠꝡꝪꝫꝮꝯꞘꞙꞟꞪꞫꞬꞮꞲꞳꞴꞵꟅꬲꬵꬽꬾꭇꭈꭎꭒꭓꭚꭰꭱꭲꭴꭵꭹꭺꭻꭼꮁꮃꮇꮋꮍꮎꮐꮒꮓꮗꮜꮞꮟꮢꮤꮥꮩꮪꮮꮯꮲꮶꮷꮻꮾ𐊂𐊆𐊇𐊊𐊐𐊒𐊕𐊖𐊗𐊠𐊡𐊢𐊥𐊫𐊰𐊱𐊲𐊴𐋏𐋵𐌁𐌂𐌉𐌑𐌕𐌗𐌚𐌠𐌢𐐄𐐕𐐛𐐠𐐬𐐽𐑃𐑈𐒴𐓂𐓍𐓎𐓒𐓜𐓪𐓵𐓶𐓺𐔓𐔖𐔘𐔜𐔝𐔥𐔦𐔧𑓅𑓐𑜆𑜊𑜎𑜏𑢠𑢡𑢢𑢣𑢤𑢦𑢩𑢪𑢬𑢮𑢯𑢲𑢵𑢶𑢸𑢻𑢼𑣀𑣁𑣂𑣃𑣄𑣆𑣈𑣉𑣊𑣌𑣎𑣏𑣒𑣕𑣖𑣗𑣘𑣛𑣜𑣠𑣥𑣦𑣩𑣬𑣯𑣲𖼇𖼈𖼊𖼖𖼨𖼵𖼺𖼻𖽀𖽂𖽃𞣇𞣋 !"#$%&''()*+,-./:;<=>?@[\]^_`{}~­·̴̵̶̷̸̡̢̧̨̛̖̗̘̙̜̝̞̟̠̣̤̥̦̩̪̫̬̭̮̯̰̱̲̳̹̺̻̼͇͈͉͍͎̀́̂̃̄̅̆̇̈̉̊̋̌̍̎̏̐̑̒̓̔̽̾̿̀́͂̓̈́͆͊͋͌̕̚ͅ͏͓͔͕͖͙͚͐͑͒͗͛ͣͤͥͦͧͨͩͪͫͬͭͮͯ͘͜͟͢͝͞͠͡​‌‍‎‏‐‑‒–—―‖‗‘’‚‛“”„‟†‡•‣․‥…‧  ‪‫‬‭‮ ‰‱′″‴‵‶‷‸‹›※‼‽‾‿⁀⁁⁂⁃⁄⁅⁆⁇⁈⁉⁊⁋⁌⁍⁎⁏⁐⁑⁒⁓⁔⁕⁖⁗⁘⁙⁚⁛⁜⁝⁞ ⁠⁡⁢⁣⁤⁥⁦⁧⁨⁩⁪⁫⁬⁭⁮⁯︀︁︂︃︄︅︆︇︈︉︊︋︌︍︎️﻿'::text, 'lolabcdefghljklmnopqrstuvwxyzldododdhhlllttbbbbbdddgffyllklwnnopr22ttuyzz325slgg33n88zzccltbueejjrryyabdd3ggyhlllllwnnorrrstuuyz3jqjabyezholkmnoptyxabyeznolkmvopotuxff22jmmsljhabbye3kmhopctyxba6bre3kmhopctyxbsljhwwbboovvbbyr33kkkkhhccttyyyyxxhheeeelhhhhmml33ooddggqqwwwqqhnusgfowqqhnnusgfolvlololovooolovooloo89o98ooo9ooooo9ooooyounodrtlyajeywmhyoghzwu4brwsvslcpkdo6hgbhgbvunpdbbjyl2xhxrbfaddwmbxlkmbocttbyocoouvwzrfnrstzllpugyfyylprthhkkayrhhllkkmmnnooppccttyyxx9933ll66oveoloqxobpddtgkjczfmnlsrvhwxyaeloun22llhhv2skkoo22ww3399ffuh3gljxbbsefoorruuxydrtolyajerwmhyoghzwu4brwsvslcpkdo6beflxopstabcfomtyxhzbclmtx8lxoclsoclsrohu7rohu7nokcvflxwovwwwvsflyez39e4lo9u5tvsflz7oz39e4l69ou5yozwcxwcyvtllrs3auyl8'::text) COLLATE "und-x-icu")) END, 'm'::text, 'rn'::text), 200);

CREATE FUNCTION public.organisations_insert_recipient() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into recipients (id, kind, status, held_since)
  values (
    new.id, 'ehr', case when new.callback_url is null then 'held' else 'active' end,
    case when new.callback_url is null then new.created_at end
  );
  return null;
end
$$;

CREATE FUNCTION public.prepare_attempt_partitions(today date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
declare
  day date;
  name text;
begin
  if (today between '2000-01-02' and '2999-12-01') is not true then
    raise exception '% is not a day of this log', today;
  end if;
  -- Workers that start together call this together.
  perform pg_advisory_xact_lock(hashtext('prepare_attempt_partitions'));
  for day in select generate_series(today - 1, today + 7, interval '1 day')::date loop
    name := 'delivery_attempts_' || to_char(day, 'YYYYMMDD');
    if to_regclass('public.' || name) is null then
      execute format('create table public.%I (like public.delivery_attempts including all)', name);
      execute format(
        'alter table public.delivery_attempts attach partition public.%I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
      );
    end if;
  end loop;
end
$$;

CREATE FUNCTION public.prepare_usage_partitions(today date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
declare
  day date;
  name text;
begin
  if (today between '2000-02-15' and '2999-12-01') is not true then
    raise exception '% is not a day of usage', today;
  end if;
  -- Workers that start together call this together.
  perform pg_advisory_xact_lock(hashtext('prepare_usage_partitions'));
  for day in select generate_series(today - 36, today + 7, interval '1 day')::date loop
    name := 'usage_records_' || to_char(day, 'YYYYMMDD');
    if to_regclass('public.' || name) is null then
      execute format('create table public.%I (like public.usage_records including all)', name);
      execute format('alter table public.usage_records attach partition public.%I for values from (%L) to (%L)', name, day, day + 1);
    end if;
  end loop;
end
$$;

CREATE FUNCTION public.pricing_plans_reject_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.publish_plans(given_app uuid, plans json, new_ids uuid[], given_at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.rank_apps(needle text, in_category text, concepts integer[], alternatives text[], loose boolean[], factors real[], weights real[]) RETURNS TABLE(app_id uuid, relevance real)
    LANGUAGE plpgsql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
declare
  in_this_category tsquery;
  -- All concepts; and any of those that say something, because words such as "patient" are everywhere.
  all_concepts tsquery;
  any_concept tsquery;
  whole_query tsquery := phraseto_tsquery('public.catalog_search', needle);
  -- The alternatives of a concept with the same factor are one query.
  query_concepts integer[];
  query_factors real[];
  queries tsquery[];
begin
  if in_category is not null and not exists (select from categories where category = in_category) then
    return;
  end if;
  select array_agg(concept), array_agg(factor), array_agg(query) into query_concepts, query_factors, queries
  from (
    select concept, factor, string_agg('(' || query::text || ')', ' | ')::tsquery as query
    from unnest(concepts, alternatives, loose, factors) as each (concept, phrase, is_loose, factor)
    cross join lateral (
      select case
        when is_loose then plainto_tsquery('public.catalog_search', phrase)
        else phraseto_tsquery('public.catalog_search', phrase)
      end as query
    ) parsed
    where numnode(query) > 0
    group by concept, factor
  ) grouped;

  with concept as (
    select concept, string_agg('(' || query::text || ')', ' | ')::tsquery as query
    from unnest(concepts, alternatives) as each (concept, phrase)
    cross join lateral (select plainto_tsquery('public.catalog_search', phrase) as query) parsed
    where numnode(query) > 0
    group by concept
  )
  select
    string_agg('(' || query::text || ')', ' & ')::tsquery,
    (string_agg('(' || query::text || ')', ' | ') filter (where weights[concept] >= least(0.25, (select max(w) from unnest(weights) w))))::tsquery
  into all_concepts, any_concept
  from concept;
  if all_concepts is null then
    return;
  end if;
  if in_category is not null then
    in_this_category := quote_literal('#' || in_category)::tsquery;
    all_concepts := all_concepts && in_this_category;
    any_concept := any_concept && in_this_category;
  end if;

  return query
  with candidate as (
    (
      select app_id from app_search
      where name >= needle and name < needle || chr(1114111) and (in_category is null or category = in_category)
      order by name limit 100
    )
    union
    -- A limit over UNION ALL stops reading as soon as it is full: the popular tiers come first.
    (
      select app_id from app_search where tier = 0 and head_words @@ all_concepts
      union all
      select app_id from app_search where tier = 1 and head_words @@ all_concepts
      union all
      select app_id from app_search where tier = 2 and head_words @@ all_concepts
      union all
      select app_id from app_search where tier = 3 and head_words @@ all_concepts
      union all
      select app_id from app_search where tier = 4 and head_words @@ all_concepts
      limit 100
    )
    union
    (
      select app_id from app_search where tier = 0 and words @@ all_concepts
      union all
      select app_id from app_search where tier = 1 and words @@ all_concepts
      union all
      select app_id from app_search where tier = 2 and words @@ all_concepts
      union all
      select app_id from app_search where tier = 3 and words @@ all_concepts
      union all
      select app_id from app_search where tier = 4 and words @@ all_concepts
      limit 100
    )
    union
    (
      select app_id from app_search where tier = 0 and head_words @@ any_concept
      union all
      select app_id from app_search where tier = 1 and head_words @@ any_concept
      union all
      select app_id from app_search where tier = 2 and head_words @@ any_concept
      union all
      select app_id from app_search where tier = 3 and head_words @@ any_concept
      union all
      select app_id from app_search where tier = 4 and head_words @@ any_concept
      limit 100
    )
  ),
  -- Each field once, uncompressed, because every alternative is looked for in it.
  field as materialized (
    select
      app_id,
      searched.name,
      popular.popularity,
      ts_filter(searched.head_words, '{a}') as name_words,
      ts_filter(searched.head_words, '{b}') as summary_words,
      ts_filter(searched.head_words, '{c}') as about_words,
      ts_filter(searched.words, '{d}') as description_words,
      searched.words
    from candidate join app_search searched using (app_id) join app_popularity popular using (app_id)
  ),
  ranked as (
    select
      app_id,
      found.score,
      starts_with(field.name, needle) as is_named,
      found.score
        + case
            when field.name = needle then 3
            when starts_with(field.name, needle) then least(1.0, 0.2 + 0.1 * length(needle))
            else 0
          end
        + case
            when name_words @@ whole_query then 0.5
            when summary_words @@ whole_query then 0.3
            when about_words @@ whole_query then 0.2
            when description_words @@ whole_query then 0.1
            else 0
          end
        -- Decides only between apps that are nearly equal
        + 0.03 * popularity / (popularity + 100.0) as relevance
    from field
    cross join lateral (
      select sum(weights[concept] * points) as score from (
        select
          concept,
          coalesce(max(factor) filter (where name_words @@ query), 0)
            + 0.6 * coalesce(max(factor) filter (where summary_words @@ query), 0)
            + 0.4 * coalesce(max(factor) filter (where about_words @@ query), 0)
            + 0.2 * coalesce(max(factor) filter (where description_words @@ query), 0)
            + least(0.3, 0.05 * sum(factor * ts_rank('{1, 1, 1, 1}', words, query) * (numnode(query) + 1) / 2)) as points
        from unnest(query_concepts, query_factors, queries) as each (concept, factor, query)
        group by concept
      ) matched
    ) found
  )
  select app_id, relevance::real from ranked
  where score > 0 or is_named
  order by relevance desc, app_id;
end
$$;

CREATE FUNCTION public.refresh_apps_of_changed_categories() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  insert into category_counts select category, 0 from changed on conflict do nothing;
  perform refresh_listings(array(select apps.id from apps join changed on changed.category = apps.category));
  return null;
end
$$;

CREATE FUNCTION public.refresh_apps_of_changed_plans() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform refresh_listings(array(select distinct app_id from changed));
  return null;
end
$$;

CREATE FUNCTION public.refresh_apps_of_changed_vendors() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform refresh_listings(array(select apps.id from apps join changed on changed.id = apps.vendor_id));
  return null;
end
$$;

CREATE FUNCTION public.refresh_changed_apps() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform refresh_listings(array(select id from changed));
  return null;
end
$$;

CREATE FUNCTION public.refresh_listings(changed uuid[]) RETURNS void
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
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

CREATE FUNCTION public.refresh_search_terms() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform pg_advisory_xact_lock(hashtext('catalog'));
  delete from search_terms;
  with normalised as materialized (
    select position, search_text(given) as phrase, term is null as is_input, true as is_meaning
    from search_synonyms, unnest(synonyms) as given
    union all
    select position, search_text(term), true, false from search_synonyms where term is not null
  ),
  keyed as materialized (
    select search_key(phrase) as key, * from normalised where phrase <> ''
  )
  insert into search_terms (position, key, phrase, is_input, is_meaning)
  select position, key, min(phrase), bool_or(is_input), bool_or(is_meaning) from keyed group by position, key;

  update search_words set in_synonyms = false where in_synonyms;
  insert into search_words (word, apps, in_synonyms)
  select distinct word, 0, true from search_terms, unnest(string_to_array(phrase, ' ')) as word
  where is_input and length(word) between 2 and 40
  on conflict (word) do update set in_synonyms = true;
  notify catalog_changed;
end
$$;

CREATE FUNCTION public.remove_purged_media(purged uuid[], given_icon_url text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
  update apps set
    icon_url = case when lower(right(icon_url, 36)) = any (purged::text[]) then given_icon_url else icon_url end,
    screenshots = array(
      select url from unnest(screenshots) with ordinality as shot (url, position)
      where lower(right(url, 36)) <> all (purged::text[]) order by position
    ),
    screenshot_texts = array(
      select coalesce(description, '') from unnest(screenshots, screenshot_texts) with ordinality as shot (url, description, position)
      where lower(right(url, 36)) <> all (purged::text[]) order by position
    )
  where id in (select app_id from media where id = any (purged) and purged_at is not null)
    and (
      lower(right(icon_url, 36)) = any (purged::text[])
      or exists (select from unnest(screenshots) as url where lower(right(url, 36)) = any (purged::text[]))
    );
$$;

CREATE FUNCTION public.reviews_reject_invalid_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.scope_agreements_reject_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'an agreement is never changed or deleted' using errcode = 'restrict_violation';
end
$$;

CREATE FUNCTION public.search_key(phrase text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT string_agg(public.search_stem(each.word), ' '::text ORDER BY each.nth) AS string_agg FROM unnest(string_to_array(search_key.phrase, ' '::text)) WITH ORDINALITY each(word, nth));

CREATE FUNCTION public.search_listings(given text, in_category text, max_results integer) RETURNS SETOF text
    LANGUAGE sql STABLE
    AS $$
  with word as (
    select array_agg(nth::integer) as numbers, array_agg(word) as words, array_agg(false) as loose,
      array_agg(1::real) as ones
    from unnest((string_to_array(search_text(given), ' '))[1:8]) with ordinality as each (word, nth)
  )
  select listing.app_dto
  from word
  cross join lateral rank_apps(search_text(given), in_category, numbers, words, loose, ones, ones) ranked
  join app_listings listing using (app_id)
  order by ranked.relevance desc, app_id limit max_results
$$;

CREATE TABLE public.search_terms (
    "position" integer NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    phrase text NOT NULL COLLATE pg_catalog."C",
    is_input boolean NOT NULL,
    is_meaning boolean NOT NULL
);

CREATE FUNCTION public.search_meanings(given_key text, OUT means text[], OUT related text[]) RETURNS record
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT COALESCE(array_agg(DISTINCT meanings.phrase) FILTER (WHERE meanings.is_input), '{}'::text[]) AS "coalesce",
     COALESCE(array_agg(DISTINCT meanings.phrase) FILTER (WHERE (NOT meanings.is_input)), '{}'::text[]) AS "coalesce"
    FROM ( SELECT meaning.phrase,
             meaning.is_input
            FROM (public.search_terms input
              JOIN public.search_terms meaning USING ("position"))
           WHERE ((input.key = search_meanings.given_key) AND input.is_input AND meaning.is_meaning AND (meaning.key <> search_meanings.given_key))
          LIMIT 200) meanings;
END;

CREATE FUNCTION public.search_text(given text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN btrim(regexp_replace(lower((public.unaccent('public.unaccent'::regdictionary, given) COLLATE "und-x-icu")), '[^[:alnum:]]+'::text, ' '::text, 'g'::text));

CREATE FUNCTION public.statement_months_reject_additions() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  latest date := (select max(month) from statement_months where month <> new.month);
  expected date;
begin
  if latest is not null then
    expected := latest + interval '1 month';
  else
    -- From the index of each status
    select date_trunc('month', min(first) at time zone 'UTC') into expected
    from unnest(array['active', 'paused', 'cancelled']) as statuses(status)
    cross join lateral (
      select min(created_at) as first from subscriptions where subscriptions.status = statuses.status
    ) firsts;
  end if;
  if new.status <> 'open' or new.month is distinct from expected then
    raise exception 'the next month is an open one after the latest' using errcode = 'restrict_violation';
  end if;
  return null;
end
$$;

CREATE FUNCTION public.statement_months_reject_changes() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  raise exception 'a closed month can''t change' using errcode = 'restrict_violation';
end
$$;

CREATE FUNCTION public.statement_months_reject_steps() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  raise exception 'a month is open, then closing, then closed' using errcode = 'restrict_violation';
end
$$;

CREATE FUNCTION public.statement_months_require_credits() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if exists (
    select from credits
    where month = new.month and 1 <> (
      select count(*) from closed_lines line
      where line.month = credits.month and line.subscription_id = credits.subscription_id
        and line.credit_id = credits.id and line.amount = -credits.amount
    )
  ) then
    raise exception 'a month is closed with each of its credits, once' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.statements_reject_additions() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if exists (
    select from (select distinct month from added) months
    where not exists (
      select from statement_months where statement_months.month = months.month and status = 'closing' and phase = tg_argv[0]
    )
  ) then
    raise exception 'the month isn''t being closed' using errcode = 'restrict_violation';
  end if;
  return null;
end
$$;

CREATE FUNCTION public.statements_reject_changes() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  raise exception 'a statement can''t change' using errcode = 'restrict_violation';
end
$$;

CREATE FUNCTION public.subscriptions_begin_period() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if tg_op = 'INSERT' then
    new.active_since := case when new.status = 'active' then new.created_at end;
    return new;
  end if;
  new.active_since := case
    when new.status <> 'active' then null
    when (old.status, old.pricing_plan_id, old.quantity) is distinct from (new.status, new.pricing_plan_id, new.quantity) then new.updated_at
    else old.active_since
  end;
  return new;
end
$$;

CREATE FUNCTION public.subscriptions_record_active_period() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into active_periods (subscription_id, from_at, to_at, pricing_plan_id, quantity, interval_amount, interval)
  select old.id, old.active_since, new.updated_at, old.pricing_plan_id, old.quantity, old.interval_amount, pricing_plans.interval
  from pricing_plans where id = old.pricing_plan_id;
  return null;
end
$$;

CREATE FUNCTION public.subscriptions_record_ended_pause() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into ended_pauses (subscription_id, paused_at, ended_at, reason) values (new.id, old.paused_at, new.updated_at, old.pause_reason);
  return null;
end
$$;

CREATE FUNCTION public.subscriptions_record_ended_terms() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into ended_terms (subscription_id, ended_at, pricing_plan_id, quantity)
  values (new.id, new.updated_at, old.pricing_plan_id, old.quantity);
  return null;
end
$$;

CREATE FUNCTION public.subscriptions_reject_invalid_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.subscriptions_reject_longer_trial() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if old.trial_ends_at is null or new.trial_ends_at is null or new.trial_ends_at > old.trial_ends_at
    or new.trial_ends_at < new.updated_at or new.pricing_plan_id = old.pricing_plan_id then
    raise exception 'a trial ends earlier only, with a change of plan, and not in the past' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.subscriptions_reject_mixed_kinds() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.subscriptions_reject_other_currency() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if (select currency from plan_records where id = new.pricing_plan_id)
    <> (select currency from plan_records where id = old.pricing_plan_id)
  then
    raise exception 'the currency of a subscription can''t change' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.subscriptions_set_scopes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  select apps.fhir_scopes into new.fhir_scopes from apps where apps.id = new.app_id;
  return new;
end
$$;

CREATE FUNCTION public.suspensions_notify_client_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform pg_notify('catalog_changed', slug) from listings where app_id = new.app_id;
  return null;
end
$$;

CREATE FUNCTION public.undone_increases_reject_second() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if exists (
    select from undone_increases undone join subscriptions on subscriptions.id = undone.subscription_id
    where (organisation_id, app_id) = (select organisation_id, app_id from subscriptions where id = new.subscription_id)
      and undone.to_at > new.to_at - interval '7 days'
  ) then
    raise exception 'an increase counts as never made once in seven days' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.usage_records_reject_changes() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if old.voided or not new.voided then
    raise exception 'a record of usage is voided once, and nothing else of it changes' using errcode = 'restrict_violation';
  end if;
  -- Processes of the previous version don't set it.
  new.voided_at := coalesce(new.voided_at, now());
  return new;
end
$$;

CREATE FUNCTION public.vendors_record_ended_commission() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into ended_commissions (vendor_id, ended_at, commission_percent)
  values (new.id, new.updated_at, old.commission_percent)
  on conflict do nothing;
  return null;
end
$$;

CREATE FUNCTION public.webhook_endpoints_insert_recipient() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into recipients (id, kind) values (new.id, 'endpoint');
  return null;
end
$$;

CREATE FUNCTION public.wire_amount(given numeric) RETURNS json
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (given = trunc(given)) THEN to_json((given)::bigint) ELSE to_json((trim_scale(given))::text) END;

CREATE FUNCTION public.wire_instant(given timestamp with time zone) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_char((given AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'::text);

CREATE TEXT SEARCH CONFIGURATION public.catalog_search (
    PARSER = pg_catalog."default" );

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR asciiword WITH public.unaccent, public.catalog_stem;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR word WITH public.unaccent, public.catalog_stem;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR numword WITH public.unaccent, public.catalog_stem;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR email WITH simple;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR url WITH simple;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR host WITH simple;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR sfloat WITH simple;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR version WITH simple;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR hword_numpart WITH public.unaccent, public.catalog_stem;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR hword_part WITH public.unaccent, public.catalog_stem;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR hword_asciipart WITH public.unaccent, public.catalog_stem;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR numhword WITH public.unaccent, public.catalog_stem;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR asciihword WITH public.unaccent, public.catalog_stem;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR hword WITH public.unaccent, public.catalog_stem;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR url_path WITH simple;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR file WITH simple;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR "float" WITH simple;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR "int" WITH simple;

ALTER TEXT SEARCH CONFIGURATION public.catalog_search
    ADD MAPPING FOR uint WITH simple;

CREATE FUNCTION public.word_vector(given text, weight "char") RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN setweight(to_tsvector('public.catalog_search'::regconfig, public.search_text(given)), weight);

CREATE TABLE public.active_periods (
    subscription_id uuid NOT NULL,
    from_at timestamp(3) with time zone NOT NULL,
    to_at timestamp(3) with time zone NOT NULL,
    pricing_plan_id uuid NOT NULL,
    quantity integer,
    interval_amount numeric,
    "interval" text,
    CONSTRAINT active_periods_check CHECK ((to_at > from_at)),
    CONSTRAINT active_periods_quantity_check CHECK ((quantity >= 1))
);

CREATE TABLE public.app_listings (
    app_id uuid NOT NULL,
    slug text NOT NULL,
    category text NOT NULL,
    name text NOT NULL COLLATE public.case_insensitive,
    featured boolean NOT NULL,
    published_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    popularity integer DEFAULT 0 NOT NULL,
    app_dto text NOT NULL,
    pricing_dto text NOT NULL
);
ALTER TABLE ONLY public.app_listings ALTER COLUMN app_dto SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.app_listings ALTER COLUMN pricing_dto SET STORAGE EXTERNAL;

COMMENT ON COLUMN public.app_listings.popularity IS 'Neither read nor written any more: app_popularity has it';

CREATE TABLE public.app_popularity (
    app_id uuid NOT NULL,
    category text NOT NULL,
    featured boolean NOT NULL,
    popularity integer DEFAULT 0 NOT NULL,
    CONSTRAINT app_popularity_popularity_check CHECK ((popularity >= 0))
);

CREATE TABLE public.app_search (
    app_id uuid NOT NULL,
    category text NOT NULL,
    tier smallint DEFAULT 4 NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    words tsvector NOT NULL,
    head_words tsvector NOT NULL,
    CONSTRAINT app_search_tier_check CHECK (((tier >= 0) AND (tier <= 4)))
);
ALTER TABLE ONLY public.app_search ALTER COLUMN words SET STORAGE MAIN;

CREATE TABLE public.apps (
    id uuid NOT NULL,
    slug text NOT NULL,
    vendor_id uuid NOT NULL,
    category text NOT NULL,
    status text NOT NULL,
    name text NOT NULL,
    summary text NOT NULL,
    description text NOT NULL,
    icon_url text NOT NULL,
    version text NOT NULL,
    featured boolean DEFAULT false NOT NULL,
    extension_points text[] DEFAULT '{}'::text[] NOT NULL,
    smart_launch_url text,
    fhir_scopes text DEFAULT ''::text NOT NULL,
    screenshots text[] DEFAULT '{}'::text[] NOT NULL,
    website_url text,
    support_url text,
    privacy_policy_url text,
    terms_url text,
    config_schema json,
    baa_available boolean DEFAULT false NOT NULL,
    published_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    audience text,
    cds_services_url text,
    scope_purposes json DEFAULT '{}'::json NOT NULL,
    screenshot_texts text[] DEFAULT '{}'::text[] NOT NULL,
    baa_document_sha256 text,
    baa_url text,
    baa_required boolean GENERATED ALWAYS AS (((baa_document_sha256 IS NOT NULL) AND (audience IS DISTINCT FROM 'PATIENT'::text) AND (fhir_scopes ~ '(^| )(patient|user|system)/'::text))) STORED NOT NULL,
    trust json,
    certified_until date,
    sandbox_of uuid,
    sandbox_revision integer,
    sandbox_oauth json,
    CONSTRAINT apps_audience_check CHECK ((audience = ANY (ARRAY['CLINICIAN'::text, 'PATIENT'::text, 'BACKEND'::text]))),
    CONSTRAINT apps_baa_document_sha256_check CHECK ((baa_document_sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT apps_check CHECK (((status <> 'published'::text) OR (published_at IS NOT NULL))),
    CONSTRAINT apps_config_schema_check CHECK ((json_typeof(config_schema) = 'object'::text)),
    CONSTRAINT apps_description_check CHECK ((length(description) <= 50000)),
    CONSTRAINT apps_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT apps_oauth_of_sandbox_only CHECK (((sandbox_oauth IS NULL) OR (sandbox_of IS NOT NULL))),
    CONSTRAINT apps_sandbox_is_never_published CHECK ((((sandbox_of IS NULL) = (sandbox_revision IS NULL)) AND ((sandbox_of IS NULL) OR ((status = 'draft'::text) AND (NOT featured))))),
    CONSTRAINT apps_sandbox_oauth_check CHECK ((json_typeof(sandbox_oauth) = 'object'::text)),
    CONSTRAINT apps_sandbox_revision_check CHECK ((sandbox_revision >= 1)),
    CONSTRAINT apps_scope_purposes_check CHECK ((json_typeof(scope_purposes) = 'object'::text)),
    CONSTRAINT apps_slug_check CHECK (((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text) AND ((length(slug) >= 3) AND (length(slug) <= 64)) AND (slug <> ALL (ARRAY['search'::text, 'featured'::text, 'categories'::text])) AND ((slug ~~ 'sandbox-%'::text) = (sandbox_of IS NOT NULL)))),
    CONSTRAINT apps_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text, 'withdrawn'::text]))),
    CONSTRAINT apps_summary_check CHECK ((length(summary) <= 500)),
    CONSTRAINT apps_trust_check CHECK ((json_typeof(trust) = 'object'::text)),
    CONSTRAINT icon_url_is_https CHECK (public.is_web_url(icon_url)),
    CONSTRAINT privacy_policy_url_is_https CHECK (public.is_web_url(privacy_policy_url)),
    CONSTRAINT screenshots_are_https CHECK (public.are_web_urls(screenshots)),
    CONSTRAINT smart_launch_url_is_https CHECK (public.is_web_url(smart_launch_url)),
    CONSTRAINT support_url_is_https CHECK (public.is_web_url(support_url)),
    CONSTRAINT terms_url_is_https CHECK (public.is_web_url(terms_url)),
    CONSTRAINT website_url_is_https CHECK (public.is_web_url(website_url))
);

CREATE TABLE public.audit_entries (
    id uuid NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    actor_issuer text NOT NULL,
    actor_subject text NOT NULL,
    actor_role text NOT NULL,
    on_behalf_of text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL,
    target_kind text NOT NULL,
    target_id text NOT NULL,
    request_id text NOT NULL,
    before json,
    after json
);

CREATE TABLE public.baa_agreements (
    subscription_id uuid NOT NULL,
    document_sha256 text NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    agreed_at timestamp(3) with time zone NOT NULL,
    role text,
    CONSTRAINT baa_agreements_document_sha256_check CHECK ((document_sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT baa_agreements_role_check CHECK ((role = ANY (ARRAY['org-admin'::text, 'operator'::text])))
);

CREATE TABLE public.callback_origins (
    id uuid DEFAULT public.mint_uuid() NOT NULL,
    origin text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'active'::text NOT NULL,
    consecutive_failures integer DEFAULT 0 NOT NULL,
    failed_recipient_id uuid,
    held_since timestamp(3) with time zone,
    probes integer DEFAULT 0 NOT NULL,
    probed_id uuid,
    CONSTRAINT callback_origins_consecutive_failures_check CHECK ((consecutive_failures >= 0)),
    CONSTRAINT callback_origins_held_since_required CHECK (((status = 'held'::text) = (held_since IS NOT NULL))),
    CONSTRAINT callback_origins_probes_check CHECK ((probes >= 0)),
    CONSTRAINT callback_origins_status_check CHECK ((status = ANY (ARRAY['active'::text, 'held'::text])))
);

CREATE TABLE public.carried_over (
    month date NOT NULL,
    party text NOT NULL,
    party_id uuid NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    amount numeric NOT NULL,
    CONSTRAINT carried_over_amount_check CHECK (((amount < (0)::numeric) AND (amount = trunc(amount)))),
    CONSTRAINT carried_over_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
    CONSTRAINT carried_over_party_check CHECK ((party = ANY (ARRAY['organisation'::text, 'vendor'::text])))
);

CREATE TABLE public.categories (
    category text NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    "position" integer NOT NULL,
    CONSTRAINT categories_category_check CHECK ((category ~ '^[A-Z]+(_[A-Z]+)*$'::text))
);

CREATE TABLE public.category_counts (
    category text NOT NULL,
    apps integer NOT NULL,
    CONSTRAINT category_counts_apps_check CHECK ((apps >= 0))
);

CREATE TABLE public.cds_discoveries (
    app_id uuid NOT NULL,
    url text NOT NULL,
    requested_at timestamp(3) with time zone NOT NULL,
    hooks text[],
    failure text,
    CONSTRAINT cds_discoveries_failure_check CHECK ((failure ~ '^[ -~]{1,200}$'::text)),
    CONSTRAINT cds_discoveries_hooks_check CHECK (((cardinality(hooks) <= 100) AND public.are_hook_names(hooks))),
    CONSTRAINT cds_discoveries_result_check CHECK ((num_nonnulls(hooks, failure) = 1)),
    CONSTRAINT cds_discoveries_url_check CHECK (public.is_web_url(url))
);

CREATE TABLE public.closed_commissions (
    month date NOT NULL,
    vendor_id uuid NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    charges date NOT NULL,
    gross numeric NOT NULL,
    commission_percent numeric(5,2) NOT NULL,
    commission numeric NOT NULL,
    CONSTRAINT closed_commissions_check CHECK ((charges <= month)),
    CONSTRAINT closed_commissions_commission_check CHECK ((commission = trunc(commission))),
    CONSTRAINT closed_commissions_gross_check CHECK ((gross = trunc(gross)))
);

CREATE TABLE public.closed_lines (
    month date NOT NULL,
    subscription_id uuid NOT NULL,
    number smallint NOT NULL,
    organisation_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    app_id uuid NOT NULL,
    app_name text NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    description text NOT NULL,
    quantity text NOT NULL,
    unit_amount text NOT NULL,
    days smallint,
    interval_days smallint,
    amount numeric NOT NULL,
    adjusts date,
    credit_id uuid,
    CONSTRAINT closed_lines_amount_check CHECK ((amount = trunc(amount))),
    CONSTRAINT closed_lines_check CHECK ((adjusts < month)),
    CONSTRAINT closed_lines_number_check CHECK ((number > 0))
);

CREATE TABLE public.closed_totals (
    month date NOT NULL,
    vendor_id uuid NOT NULL,
    app_id uuid NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    charges date NOT NULL,
    app_name text NOT NULL,
    subscriptions integer NOT NULL,
    amount numeric NOT NULL,
    is_credit boolean DEFAULT false NOT NULL,
    CONSTRAINT closed_totals_amount_check CHECK ((amount = trunc(amount))),
    CONSTRAINT closed_totals_check CHECK ((charges <= month)),
    CONSTRAINT closed_totals_subscriptions_check CHECK ((subscriptions > 0))
);

CREATE TABLE public.connections (
    subscription_id uuid NOT NULL,
    status text NOT NULL,
    client_id text,
    fhir_base_url text,
    reason text,
    updated_at timestamp(3) with time zone NOT NULL,
    changed_at timestamp(3) with time zone[] NOT NULL,
    CONSTRAINT connections_changes_are_bounded CHECK ((((cardinality(changed_at) >= 1) AND (cardinality(changed_at) <= 30)) AND (changed_at[cardinality(changed_at)] = updated_at))),
    CONSTRAINT connections_client_id_check CHECK (((client_id ~ '^[ -~]+$'::text) AND (length(client_id) <= 2048))),
    CONSTRAINT connections_failed_has_reason CHECK (((status <> 'failed'::text) OR (reason IS NOT NULL))),
    CONSTRAINT connections_fhir_base_url_check CHECK (public.is_web_url(fhir_base_url)),
    CONSTRAINT connections_ready_has_client CHECK (((status <> 'ready'::text) OR ((client_id IS NOT NULL) AND (fhir_base_url IS NOT NULL)))),
    CONSTRAINT connections_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 500))),
    CONSTRAINT connections_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'ready'::text, 'failed'::text])))
);

CREATE TABLE public.credits (
    id uuid NOT NULL,
    subscription_id uuid NOT NULL,
    organisation_id uuid NOT NULL,
    app_id uuid NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    month date NOT NULL,
    number smallint NOT NULL,
    amount bigint NOT NULL,
    text text NOT NULL,
    charged numeric NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT credits_amount_check CHECK ((amount > 0)),
    CONSTRAINT credits_charged_check CHECK ((charged = trunc(charged))),
    CONSTRAINT credits_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
    CONSTRAINT credits_number_check CHECK (((number >= 1) AND (number <= 100))),
    CONSTRAINT credits_text_check CHECK ((((length(text) >= 1) AND (length(text) <= 200)) AND (text !~ '[\u0001-\u001F\u007F-\u009F]'::text)))
);

CREATE TABLE public.deleted_drafts (
    app_id uuid NOT NULL,
    slug text NOT NULL,
    deleted_at timestamp with time zone NOT NULL
);

CREATE TABLE public.deliveries (
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    recipient_id uuid NOT NULL,
    subscription_id uuid,
    sequence integer,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    settled_at timestamp(3) with time zone,
    restarted_at timestamp(3) with time zone,
    worker_id integer,
    CONSTRAINT deliveries_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT deliveries_failures_check CHECK ((failures >= 0)),
    CONSTRAINT deliveries_sequence_with_subscription CHECK (((subscription_id IS NULL) = (sequence IS NULL))),
    CONSTRAINT deliveries_settled_at_matches_status CHECK (((status = ANY (ARRAY['waiting'::text, 'queued'::text])) = (settled_at IS NULL))),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'queued'::text, 'delivered'::text, 'failed'::text, 'expired'::text, 'dropped'::text])))
);

CREATE TABLE public.delivery_attempts (
    id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    recipient_id uuid NOT NULL,
    url text NOT NULL,
    attempt integer NOT NULL,
    started_at timestamp(3) with time zone NOT NULL,
    duration_ms integer,
    outcome text DEFAULT 'unknown'::text NOT NULL,
    status_code integer,
    error text,
    response_snippet text,
    next_attempt_at timestamp(3) with time zone,
    CONSTRAINT delivery_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'failed'::text, 'unknown'::text])))
)
PARTITION BY RANGE (started_at);

CREATE TABLE public.delivery_log_retention (
    only_row boolean DEFAULT true NOT NULL,
    least_days integer DEFAULT 90 NOT NULL,
    CONSTRAINT delivery_log_retention_least_days_check CHECK (((least_days >= 1) AND (least_days <= 3650))),
    CONSTRAINT delivery_log_retention_only_row_check CHECK (only_row)
);

CREATE TABLE public.delivery_workers (
    id integer NOT NULL,
    host text NOT NULL,
    started_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    heartbeat_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT delivery_workers_host_check CHECK (((length(host) >= 1) AND (length(host) <= 255)))
);

ALTER TABLE public.delivery_workers ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.delivery_workers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.draft_editors (
    app_id uuid NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    version integer NOT NULL
);

CREATE TABLE public.ended_commissions (
    vendor_id uuid NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    commission_percent numeric(5,2) NOT NULL
);

CREATE TABLE public.ended_pauses (
    subscription_id uuid NOT NULL,
    paused_at timestamp(3) with time zone NOT NULL,
    ended_at timestamp(3) with time zone NOT NULL,
    reason text,
    CONSTRAINT ended_pauses_check CHECK ((ended_at >= paused_at))
);

CREATE TABLE public.ended_terms (
    subscription_id uuid NOT NULL,
    ended_at timestamp(3) with time zone NOT NULL,
    pricing_plan_id uuid NOT NULL,
    quantity integer,
    CONSTRAINT ended_terms_quantity_check CHECK ((quantity >= 1))
);

CREATE TABLE public.events (
    id uuid NOT NULL,
    event text NOT NULL,
    subscription_id uuid,
    sequence integer,
    occurred_at timestamp(3) with time zone NOT NULL,
    payload text NOT NULL,
    vendor_id uuid,
    sandbox boolean DEFAULT false NOT NULL,
    CONSTRAINT events_payload_check CHECK ((length(payload) <= 65536)),
    CONSTRAINT events_sequence_check CHECK ((sequence >= 1)),
    CONSTRAINT events_sequence_requires_subscription CHECK (((sequence IS NULL) OR (subscription_id IS NOT NULL)))
);

CREATE TABLE public.extension_points (
    name text NOT NULL,
    description text NOT NULL
);

CREATE TABLE public.idempotent_responses (
    request bytea NOT NULL,
    response json,
    created_at timestamp(3) with time zone NOT NULL,
    body_digest text NOT NULL,
    CONSTRAINT idempotent_responses_body_digest_check CHECK ((body_digest ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]{43}$'::text)),
    CONSTRAINT idempotent_responses_request_check CHECK ((length(request) = 32))
);

CREATE TABLE public.late_usage (
    subscription_id uuid NOT NULL,
    month date NOT NULL,
    reported_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT late_usage_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric))
);

CREATE TABLE public.listings (
    app_id uuid NOT NULL,
    slug text NOT NULL,
    vendor_id uuid NOT NULL,
    draft json NOT NULL,
    encrypted_review_notes text,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    published_revision integer,
    unpublished_at timestamp with time zone,
    suspended_at timestamp with time zone,
    suspension_reason text,
    republished_at timestamp with time zone,
    sandbox_launched_at timestamp with time zone,
    CONSTRAINT listings_draft_check CHECK ((json_typeof(draft) = 'object'::text)),
    CONSTRAINT listings_hidden_requires_published CHECK (((published_revision IS NOT NULL) OR ((unpublished_at IS NULL) AND (suspended_at IS NULL)))),
    CONSTRAINT listings_slug_check CHECK (((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text) AND ((length(slug) >= 3) AND (length(slug) <= 64)) AND (slug <> ALL (ARRAY['search'::text, 'featured'::text, 'categories'::text])) AND (slug !~~ 'sandbox-%'::text))),
    CONSTRAINT listings_suspension_has_reason CHECK (((suspended_at IS NULL) = (suspension_reason IS NULL))),
    CONSTRAINT listings_suspension_reason_check CHECK (((length(suspension_reason) >= 1) AND (length(suspension_reason) <= 2000))),
    CONSTRAINT listings_version_check CHECK ((version > 0))
);

CREATE TABLE public.media (
    id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    app_id uuid,
    kind text NOT NULL,
    object_key text NOT NULL,
    sha256 text NOT NULL,
    content_type text NOT NULL,
    bytes integer NOT NULL,
    width integer,
    height integer,
    created_at timestamp with time zone NOT NULL,
    stored_at timestamp with time zone,
    published_at timestamp with time zone,
    unused_since timestamp with time zone,
    deleting_at timestamp with time zone,
    source_sha256 text,
    purged_at timestamp with time zone,
    CONSTRAINT media_bytes_check CHECK ((bytes > 0)),
    CONSTRAINT media_check CHECK (((width IS NULL) = (height IS NULL))),
    CONSTRAINT media_content_type_check CHECK ((content_type = ANY (ARRAY['image/png'::text, 'image/webp'::text, 'application/pdf'::text]))),
    CONSTRAINT media_height_check CHECK ((height > 0)),
    CONSTRAINT media_kind_check CHECK ((kind = ANY (ARRAY['ICON'::text, 'SCREENSHOT'::text, 'DOCUMENT'::text]))),
    CONSTRAINT media_object_key_check CHECK ((length(object_key) <= 200)),
    CONSTRAINT media_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT media_source_sha256_check CHECK ((source_sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT media_width_check CHECK ((width > 0))
);

CREATE TABLE public.notice_mails (
    id uuid NOT NULL,
    audience text NOT NULL COLLATE pg_catalog."C",
    digest_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    due_at timestamp(3) with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    outcome text,
    settled_at timestamp(3) with time zone,
    confirms text,
    mailbox text COLLATE pg_catalog."C",
    CONSTRAINT notice_mails_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT notice_mails_check CHECK (((outcome IS NULL) = (settled_at IS NULL))),
    CONSTRAINT notice_mails_confirms_check CHECK (((length(confirms) <= 254) AND (confirms !~ '[[:cntrl:][:space:]]'::text))),
    CONSTRAINT notice_mails_outcome_check CHECK ((outcome = ANY (ARRAY['sent'::text, 'failed'::text, 'dropped'::text])))
);

CREATE TABLE public.notice_settings (
    audience text NOT NULL COLLATE pg_catalog."C",
    email text,
    muted_kinds text[] DEFAULT '{}'::text[] NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    confirmed_email text,
    CONSTRAINT notice_settings_audience_check CHECK ((audience ~ '^(operators|(organisation|vendor):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$'::text)),
    CONSTRAINT notice_settings_confirmed_email_check CHECK (((length(confirmed_email) <= 254) AND (confirmed_email !~ '[[:cntrl:][:space:]]'::text))),
    CONSTRAINT notice_settings_email_check CHECK (((length(email) <= 254) AND (email !~ '[[:cntrl:][:space:]]'::text)))
);

CREATE TABLE public.notices (
    id uuid NOT NULL,
    audience text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    severity text NOT NULL,
    subject text NOT NULL,
    detail text NOT NULL,
    link text,
    key text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp(3) with time zone NOT NULL,
    read_at timestamp(3) with time zone,
    digest_at timestamp(3) with time zone,
    CONSTRAINT notices_audience_check CHECK ((audience ~ '^(operators|(organisation|vendor):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$'::text)),
    CONSTRAINT notices_detail_check CHECK ((((length(detail) >= 1) AND (length(detail) <= 1000)) AND (detail !~ '[[:cntrl:]]'::text))),
    CONSTRAINT notices_key_check CHECK (((length(key) >= 1) AND (length(key) <= 200))),
    CONSTRAINT notices_severity_check CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text]))),
    CONSTRAINT notices_subject_check CHECK ((((length(subject) >= 1) AND (length(subject) <= 200)) AND (subject !~ '[[:cntrl:]]'::text)))
);

CREATE TABLE public.open_commissions (
    month date NOT NULL,
    vendor_id uuid NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    charges date NOT NULL,
    gross numeric NOT NULL,
    commission_percent numeric(5,2) NOT NULL,
    commission numeric NOT NULL,
    CONSTRAINT closed_commissions_check CHECK ((charges <= month)),
    CONSTRAINT closed_commissions_commission_check CHECK ((commission = trunc(commission))),
    CONSTRAINT closed_commissions_gross_check CHECK ((gross = trunc(gross)))
);

CREATE TABLE public.open_lines (
    month date NOT NULL,
    subscription_id uuid NOT NULL,
    number smallint NOT NULL,
    organisation_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    app_id uuid NOT NULL,
    app_name text NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    description text NOT NULL,
    quantity text NOT NULL,
    unit_amount text NOT NULL,
    days smallint,
    interval_days smallint,
    amount numeric NOT NULL,
    adjusts date,
    credit_id uuid,
    CONSTRAINT closed_lines_amount_check CHECK ((amount = trunc(amount))),
    CONSTRAINT closed_lines_check CHECK ((adjusts < month)),
    CONSTRAINT closed_lines_number_check CHECK ((number > 0))
);

CREATE TABLE public.open_totals (
    month date NOT NULL,
    vendor_id uuid NOT NULL,
    app_id uuid NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    charges date NOT NULL,
    app_name text NOT NULL,
    subscriptions integer NOT NULL,
    amount numeric NOT NULL,
    is_credit boolean DEFAULT false NOT NULL,
    CONSTRAINT closed_totals_amount_check CHECK ((amount = trunc(amount))),
    CONSTRAINT closed_totals_check CHECK ((charges <= month)),
    CONSTRAINT closed_totals_subscriptions_check CHECK ((subscriptions > 0))
);

CREATE TABLE public.organisations (
    id uuid NOT NULL,
    alias text NOT NULL COLLATE pg_catalog."C",
    display_name text NOT NULL,
    callback_url text,
    callback_networks cidr[] DEFAULT '{}'::cidr[] NOT NULL,
    encrypted_secret text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    callback_origin text GENERATED ALWAYS AS (regexp_replace(lower("substring"(callback_url, '^https?://[^/?#]+'::text)), '^(https://.*):443$|^(http://.*):80$'::text, '\1\2'::text)) STORED COLLATE pg_catalog."C",
    kind text DEFAULT 'LIVE'::text NOT NULL,
    vendor_id uuid,
    time_zone text DEFAULT 'UTC'::text NOT NULL,
    CONSTRAINT organisations_alias_check CHECK ((alias ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'::text)),
    CONSTRAINT organisations_callback_url_check CHECK (((callback_url ~ '^https?://'::text) AND (length(callback_url) <= 2048))),
    CONSTRAINT organisations_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 200))),
    CONSTRAINT organisations_encrypted_secret_check CHECK ((encrypted_secret ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'::text)),
    CONSTRAINT organisations_kind_check CHECK ((kind = ANY (ARRAY['LIVE'::text, 'SANDBOX'::text]))),
    CONSTRAINT organisations_sandbox_has_vendor CHECK (((kind = 'SANDBOX'::text) = (vendor_id IS NOT NULL))),
    CONSTRAINT organisations_time_zone_check CHECK (((length(time_zone) >= 1) AND (length(time_zone) <= 64)))
);

CREATE TABLE public.pricing_plans (
    id uuid NOT NULL,
    app_id uuid NOT NULL,
    "position" integer NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    pricing_model text NOT NULL,
    currency text NOT NULL,
    amount numeric(20,8),
    "interval" text,
    trial_days integer DEFAULT 0 NOT NULL,
    unit_name text,
    included_units bigint,
    tiers json DEFAULT '[]'::json NOT NULL,
    tier_mode text,
    metric text,
    aggregation text,
    features text[] DEFAULT '{}'::text[] NOT NULL,
    published_at timestamp with time zone,
    retired_at timestamp with time zone,
    CONSTRAINT pricing_plans_aggregation_check CHECK ((aggregation = ANY (ARRAY['SUM'::text, 'COUNT'::text, 'MAX'::text, 'LATEST'::text]))),
    CONSTRAINT pricing_plans_amount_check CHECK ((amount >= (0)::numeric)),
    CONSTRAINT pricing_plans_check CHECK (((retired_at IS NULL) OR (published_at IS NOT NULL))),
    CONSTRAINT pricing_plans_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT pricing_plans_fields_match_model CHECK (
CASE pricing_model
    WHEN 'FREE'::text THEN ((amount IS NOT NULL) AND (amount = (0)::numeric) AND ("interval" IS NULL))
    WHEN 'FLAT'::text THEN ((amount IS NOT NULL) AND (amount = trunc(amount)) AND ("interval" IS NOT NULL))
    WHEN 'PER_UNIT'::text THEN ((amount IS NOT NULL) AND (amount = trunc(amount)) AND ("interval" IS NOT NULL) AND (unit_name IS NOT NULL))
    WHEN 'TIERED'::text THEN ((amount IS NULL) AND ("interval" IS NOT NULL) AND (unit_name IS NOT NULL) AND (tier_mode IS NOT NULL) AND (json_array_length(tiers) > 0))
    ELSE (("interval" IS NOT NULL) AND (metric IS NOT NULL) AND (aggregation IS NOT NULL) AND ((amount IS NULL) = (json_array_length(tiers) > 0)))
END),
    CONSTRAINT pricing_plans_included_units_check CHECK ((included_units >= 0)),
    CONSTRAINT pricing_plans_interval_check CHECK (("interval" = ANY (ARRAY['MONTH'::text, 'YEAR'::text]))),
    CONSTRAINT pricing_plans_metric_requires_usage CHECK (((pricing_model = 'USAGE'::text) OR ((metric IS NULL) AND (aggregation IS NULL)))),
    CONSTRAINT pricing_plans_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT pricing_plans_pricing_model_check CHECK ((pricing_model = ANY (ARRAY['FREE'::text, 'FLAT'::text, 'PER_UNIT'::text, 'TIERED'::text, 'USAGE'::text]))),
    CONSTRAINT pricing_plans_tier_mode_check CHECK ((tier_mode = ANY (ARRAY['GRADUATED'::text, 'VOLUME'::text]))),
    CONSTRAINT pricing_plans_tiers_check CHECK ((json_typeof(tiers) = 'array'::text)),
    CONSTRAINT pricing_plans_tiers_match_model CHECK ((((json_array_length(tiers) > 0) = (tier_mode IS NOT NULL)) AND ((tier_mode IS NULL) OR (pricing_model = ANY (ARRAY['TIERED'::text, 'USAGE'::text]))))),
    CONSTRAINT pricing_plans_trial_days_check CHECK (((trial_days >= 0) AND (trial_days <= 365)))
);

CREATE VIEW public.plan_records AS
 SELECT plan.id,
    plan.app_id,
    plan."position",
    plan.pricing_model,
    plan.currency,
    plan.amount,
    plan."interval",
    ((plan.published_at IS NOT NULL) AND (plan.retired_at IS NULL)) AS on_sale,
    row_to_json(wire.*) AS dto
   FROM (public.pricing_plans plan
     CROSS JOIN LATERAL ( SELECT plan.id,
            plan.name,
            plan.description,
            plan.pricing_model AS "pricingModel",
            plan.currency,
            public.wire_amount(plan.amount) AS amount,
            plan."interval",
            plan.trial_days AS "trialDays",
            plan.unit_name AS "unitName",
            plan.included_units AS "includedUnits",
            plan.tiers,
            plan.tier_mode AS "tierMode",
            plan.metric,
            plan.aggregation,
            plan.features) wire);

CREATE VIEW public.plans_on_sale AS
 SELECT plan_records.id,
    plan_records.app_id,
    plan_records."position",
    plan_records.pricing_model,
    plan_records.currency,
    plan_records.amount,
    plan_records."interval",
    (plan_records.dto)::text AS dto
   FROM public.plan_records
  WHERE plan_records.on_sale;

CREATE VIEW public.starting_prices AS
 SELECT DISTINCT ON (plan.app_id) plan.app_id,
    row_to_json(wire.*) AS price
   FROM (public.plans_on_sale plan
     CROSS JOIN LATERAL ( SELECT public.wire_amount(plan.amount) AS amount,
            plan.currency,
            plan."interval") wire)
  WHERE (plan.pricing_model = ANY (ARRAY['FREE'::text, 'FLAT'::text, 'PER_UNIT'::text]))
  ORDER BY plan.app_id,
        CASE plan."interval"
            WHEN 'YEAR'::text THEN (plan.amount / (12)::numeric)
            ELSE plan.amount
        END, plan."position", plan.id;

CREATE TABLE public.vendors (
    id uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    website_url text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    support_email text,
    security_contact text,
    commission_percent numeric(5,2) DEFAULT 0 NOT NULL,
    CONSTRAINT vendors_commission_percent_check CHECK (((commission_percent >= (0)::numeric) AND (commission_percent <= (100)::numeric))),
    CONSTRAINT vendors_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT vendors_security_contact_check CHECK ((length(security_contact) <= 2048)),
    CONSTRAINT vendors_slug_check CHECK (((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text) AND ((length(slug) >= 3) AND (length(slug) <= 64)))),
    CONSTRAINT vendors_support_email_check CHECK ((length(support_email) <= 254)),
    CONSTRAINT website_url_is_https CHECK (public.is_web_url(website_url))
);

CREATE VIEW public.published_apps AS
 SELECT app.id AS app_id,
    app.slug,
    app.category,
    app.name,
    app.featured,
    app.published_at,
    app.updated_at,
    searched.name AS search_name,
    searched.head AS head_words,
    (searched.head || public.word_vector(((category.description || ' '::text) || app.description), 'D'::"char")) AS words,
    public.search_text(((((((((((app.name || ' '::text) || app.summary) || ' '::text) || vendor.name) || ' '::text) || category.name) || ' '::text) || category.description) || ' '::text) || app.description)) AS text,
    (row_to_json(wire.*))::text AS app_dto,
    (('['::text || COALESCE(( SELECT string_agg(plan.dto, ','::text ORDER BY plan."position", plan.id) AS string_agg
           FROM public.plans_on_sale plan
          WHERE (plan.app_id = app.id)), ''::text)) || ']'::text) AS pricing_dto
   FROM ((((public.apps app
     JOIN public.vendors vendor ON ((vendor.id = app.vendor_id)))
     JOIN public.categories category ON ((category.category = app.category)))
     CROSS JOIN LATERAL ( SELECT public.search_text(app.name) AS name,
            (((public.word_vector(app.name, 'A'::"char") || public.word_vector(app.summary, 'B'::"char")) || public.word_vector(((vendor.name || ' '::text) || category.name), 'C'::"char")) || public.category_mark(app.category)) AS head) searched)
     CROSS JOIN LATERAL ( SELECT app.id,
            app.slug,
            app.name,
            app.summary,
            app.description,
            app.icon_url AS "iconUrl",
            app.category,
            ( SELECT row_to_json(made_by.*) AS row_to_json
                   FROM ( SELECT vendor.slug,
                            vendor.name,
                            vendor.website_url AS "websiteUrl") made_by) AS vendor,
            app.version,
            app.featured,
            app.audience,
            app.extension_points AS "extensionPoints",
            app.smart_launch_url AS "smartLaunchUrl",
            app.cds_services_url AS "cdsServicesUrl",
            app.fhir_scopes AS "fhirScopes",
            app.scope_purposes AS "scopePurposes",
            app.screenshots,
            app.screenshot_texts AS "screenshotTexts",
            app.website_url AS "websiteUrl",
            app.support_url AS "supportUrl",
            app.privacy_policy_url AS "privacyPolicyUrl",
            app.terms_url AS "termsUrl",
            ARRAY( SELECT plan.pricing_model
                   FROM public.plans_on_sale plan
                  WHERE (plan.app_id = app.id)
                  GROUP BY plan.pricing_model
                  ORDER BY (min(plan."position"))) AS "pricingModels",
            ( SELECT starting.price
                   FROM public.starting_prices starting
                  WHERE (starting.app_id = app.id)) AS "startingPrice",
            app.config_schema AS "configSchema",
            app.baa_available AS "baaAvailable",
            app.baa_required AS "baaRequired",
            app.baa_url AS "baaUrl",
            app.baa_document_sha256 AS "baaSha256",
            public.current_trust(app.trust, ((now() AT TIME ZONE 'UTC'::text))::date) AS trust,
            public.wire_instant(app.published_at) AS "publishedAt",
            public.wire_instant(app.updated_at) AS "updatedAt") wire)
  WHERE (app.status = 'published'::text);

CREATE TABLE public.reached_limits (
    subscription_id uuid NOT NULL,
    month date NOT NULL,
    least_amount numeric(40,0) NOT NULL,
    CONSTRAINT reached_limits_least_amount_check CHECK ((least_amount >= (0)::numeric)),
    CONSTRAINT reached_limits_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric))
);

CREATE TABLE public.recipients (
    id uuid NOT NULL,
    kind text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    crowded boolean DEFAULT false NOT NULL,
    consecutive_failures integer DEFAULT 0 NOT NULL,
    held_since timestamp(3) with time zone,
    probes integer DEFAULT 0 NOT NULL,
    probed_id uuid,
    disabled_at timestamp(3) with time zone,
    disabled_reason text,
    CONSTRAINT recipients_consecutive_failures_check CHECK ((consecutive_failures >= 0)),
    CONSTRAINT recipients_disabled_reason_required CHECK ((((status = 'disabled'::text) = (disabled_at IS NOT NULL)) AND ((status = 'disabled'::text) = (disabled_reason IS NOT NULL)))),
    CONSTRAINT recipients_held_since_required CHECK (((status = 'active'::text) OR (held_since IS NOT NULL))),
    CONSTRAINT recipients_kind_check CHECK ((kind = ANY (ARRAY['endpoint'::text, 'ehr'::text]))),
    CONSTRAINT recipients_only_endpoints_disabled CHECK (((kind = 'endpoint'::text) OR (status <> 'disabled'::text))),
    CONSTRAINT recipients_status_check CHECK ((status = ANY (ARRAY['active'::text, 'held'::text, 'disabled'::text])))
);

CREATE VIEW public.recipient_states WITH (security_invoker='true') AS
 SELECT r.id,
    r.kind,
    r.status,
    r.crowded,
    (o.callback_url IS NOT NULL) AS has_callback,
    o.callback_origin,
    c.id AS origin_id,
    c.probed_id AS origin_probed_id,
    COALESCE((c.status = 'held'::text), false) AS origin_held
   FROM ((public.recipients r
     LEFT JOIN public.organisations o ON ((o.id = r.id)))
     LEFT JOIN public.callback_origins c ON ((c.origin = o.callback_origin)));

CREATE TABLE public.replays (
    id uuid NOT NULL,
    recipient_id uuid NOT NULL,
    kind text NOT NULL,
    from_at timestamp(3) with time zone,
    to_at timestamp(3) with time zone NOT NULL,
    status text DEFAULT 'running'::text NOT NULL,
    total integer NOT NULL,
    done integer DEFAULT 0 NOT NULL,
    cursor_at timestamp(3) with time zone,
    cursor_id uuid,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT replays_cursor_complete CHECK (((cursor_at IS NULL) = (cursor_id IS NULL))),
    CONSTRAINT replays_done_check CHECK ((done >= 0)),
    CONSTRAINT replays_kind_check CHECK ((kind = ANY (ARRAY['range'::text, 'failures'::text]))),
    CONSTRAINT replays_range_has_start CHECK (((kind = 'failures'::text) OR (from_at IS NOT NULL))),
    CONSTRAINT replays_status_check CHECK ((status = ANY (ARRAY['running'::text, 'done'::text, 'cancelled'::text]))),
    CONSTRAINT replays_total_check CHECK ((total >= 0))
);

CREATE TABLE public.reviews (
    id uuid NOT NULL,
    app_id uuid NOT NULL,
    number integer NOT NULL,
    vendor_id uuid NOT NULL,
    submitted_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    decision text,
    status text GENERATED ALWAYS AS (COALESCE(decision, 'open'::text)) STORED NOT NULL,
    decided_at timestamp with time zone,
    replaced_number integer,
    reasons json DEFAULT '[]'::json NOT NULL,
    CONSTRAINT reviews_decision_check CHECK ((decision = ANY (ARRAY['approved'::text, 'rejected'::text, 'withdrawn'::text]))),
    CONSTRAINT reviews_decision_has_time CHECK (((decision IS NULL) = (decided_at IS NULL))),
    CONSTRAINT reviews_reasons_check CHECK ((json_typeof(reasons) = 'array'::text)),
    CONSTRAINT reviews_rejection_has_reasons CHECK (((COALESCE(decision, ''::text) = 'rejected'::text) = (json_array_length(reasons) > 0)))
);

CREATE TABLE public.revision_editors (
    app_id uuid NOT NULL,
    number integer NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL
);

CREATE TABLE public.revision_media (
    app_id uuid NOT NULL,
    number integer NOT NULL,
    media_id uuid NOT NULL
);

CREATE TABLE public.revisions (
    id uuid NOT NULL,
    app_id uuid NOT NULL,
    number integer NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    draft json NOT NULL,
    encrypted_review_notes text,
    listing_version integer NOT NULL,
    submitted_at timestamp with time zone NOT NULL,
    adopted boolean DEFAULT false NOT NULL,
    CONSTRAINT revisions_draft_check CHECK ((json_typeof(draft) = 'object'::text)),
    CONSTRAINT revisions_listing_version_check CHECK ((listing_version > 0)),
    CONSTRAINT revisions_name_check CHECK ((length(name) <= 200)),
    CONSTRAINT revisions_number_check CHECK ((number > 0)),
    CONSTRAINT revisions_version_check CHECK ((length(version) <= 64))
);

CREATE VIEW public.sandbox_apps AS
 SELECT app.id AS app_id,
    app.slug,
    vendor.slug AS vendor_slug,
    row_to_json(wire.*) AS dto
   FROM ((public.apps app
     JOIN public.vendors vendor ON ((vendor.id = app.vendor_id)))
     CROSS JOIN LATERAL ( SELECT app.id,
            app.slug,
            app.name,
            app.summary,
            app.description,
            app.icon_url AS "iconUrl",
            app.category,
            ( SELECT row_to_json(made_by.*) AS row_to_json
                   FROM ( SELECT vendor.slug,
                            vendor.name,
                            vendor.website_url AS "websiteUrl") made_by) AS vendor,
            app.version,
            app.featured,
            app.audience,
            app.extension_points AS "extensionPoints",
            app.smart_launch_url AS "smartLaunchUrl",
            app.cds_services_url AS "cdsServicesUrl",
            app.fhir_scopes AS "fhirScopes",
            app.scope_purposes AS "scopePurposes",
            app.screenshots,
            app.screenshot_texts AS "screenshotTexts",
            app.website_url AS "websiteUrl",
            app.support_url AS "supportUrl",
            app.privacy_policy_url AS "privacyPolicyUrl",
            app.terms_url AS "termsUrl",
            ARRAY['FREE'::text] AS "pricingModels",
            ( SELECT starting.price
                   FROM public.starting_prices starting
                  WHERE (starting.app_id = app.id)) AS "startingPrice",
            app.config_schema AS "configSchema",
            app.baa_available AS "baaAvailable",
            app.baa_required AS "baaRequired",
            app.baa_url AS "baaUrl",
            app.trust,
            public.wire_instant(app.published_at) AS "publishedAt",
            public.wire_instant(app.updated_at) AS "updatedAt") wire)
  WHERE (app.sandbox_of IS NOT NULL);

CREATE VIEW public.sandbox_clients AS
 SELECT app.id AS app_id,
    app.slug,
    json_strip_nulls(json_build_object('name', app.name, 'version', NULLIF(app.version, ''::text), 'audience', app.audience, 'fhirScopes', app.fhir_scopes, 'oauth', app.sandbox_oauth)) AS draft,
    app.icon_url
   FROM public.apps app
  WHERE (app.sandbox_of IS NOT NULL);

CREATE TABLE public.schema_migrations (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    run_on timestamp without time zone NOT NULL
);

CREATE SEQUENCE public.schema_migrations_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.schema_migrations_id_seq OWNED BY public.schema_migrations.id;

CREATE TABLE public.scope_agreements (
    subscription_id uuid NOT NULL,
    revision integer NOT NULL,
    fhir_scopes text NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    agreed_at timestamp(3) with time zone NOT NULL,
    role text,
    CONSTRAINT scope_agreements_revision_check CHECK ((revision >= 1)),
    CONSTRAINT scope_agreements_role_check CHECK ((role = ANY (ARRAY['org-admin'::text, 'operator'::text, 'vendor-developer'::text])))
);

CREATE TABLE public.scope_notice_walks (
    app_id uuid NOT NULL,
    revision integer NOT NULL,
    published_at timestamp(3) with time zone NOT NULL,
    cursor_at timestamp(3) with time zone,
    cursor_id uuid,
    CONSTRAINT scope_notice_walks_revision_check CHECK ((revision > 0))
);

CREATE TABLE public.search_synonyms (
    "position" integer NOT NULL,
    term text,
    synonyms text[] NOT NULL,
    CONSTRAINT search_synonyms_position_check CHECK ((("position" >= 1) AND ("position" <= 3000))),
    CONSTRAINT search_synonyms_synonyms_check CHECK ((((cardinality(synonyms) >= 1) AND (cardinality(synonyms) <= 40)) AND (length(array_to_string(synonyms, ''::text)) <= 3200))),
    CONSTRAINT search_synonyms_term_check CHECK ((length(term) <= 80))
);

CREATE TABLE public.search_words (
    word text NOT NULL COLLATE pg_catalog."C",
    apps integer NOT NULL,
    stem text GENERATED ALWAYS AS (public.search_stem(word)) STORED COLLATE pg_catalog."C",
    in_synonyms boolean DEFAULT false NOT NULL
);

CREATE TABLE public.spend_limits (
    subscription_id uuid NOT NULL,
    amount bigint NOT NULL,
    on_reached text NOT NULL,
    actor_issuer text NOT NULL,
    actor_subject text NOT NULL,
    actor_role text NOT NULL,
    request_id text NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT spend_limits_amount_check CHECK ((amount > 0)),
    CONSTRAINT spend_limits_on_reached_check CHECK ((on_reached = ANY (ARRAY['notify'::text, 'pause'::text])))
);

CREATE TABLE public.statement_months (
    month date NOT NULL,
    status text NOT NULL,
    phase text DEFAULT 'charging'::text NOT NULL,
    cursor uuid,
    started_at timestamp(3) with time zone NOT NULL,
    done bigint DEFAULT 0 NOT NULL,
    as_of timestamp(3) with time zone,
    closed_at timestamp(3) with time zone,
    CONSTRAINT statement_months_check CHECK (((status = 'closed'::text) = (closed_at IS NOT NULL))),
    CONSTRAINT statement_months_check1 CHECK (((status <> ALL (ARRAY['closed'::text, 'skipped'::text])) OR (phase = 'done'::text))),
    CONSTRAINT statement_months_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
    CONSTRAINT statement_months_phase_check CHECK ((phase = ANY (ARRAY['charging'::text, 'totalling'::text, 'done'::text]))),
    CONSTRAINT statement_months_status_check CHECK ((status = ANY (ARRAY['skipped'::text, 'open'::text, 'closing'::text, 'closed'::text])))
);

CREATE TABLE public.subscriptions (
    id uuid NOT NULL,
    organisation_id uuid NOT NULL,
    app_id uuid NOT NULL,
    pricing_plan_id uuid NOT NULL,
    quantity integer,
    status text NOT NULL,
    pause_reason text,
    block_reason text,
    trial_ends_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    paused_at timestamp(3) with time zone,
    cancelled_at timestamp(3) with time zone,
    revision integer NOT NULL,
    fhir_scopes text NOT NULL,
    suspension_id uuid,
    sandbox_revision integer,
    active_since timestamp(3) with time zone,
    interval_amount numeric,
    CONSTRAINT subscriptions_block_reason_check CHECK ((block_reason = ANY (ARRAY['NON_PAYMENT'::text, 'OPERATOR_HOLD'::text, 'SECURITY'::text]))),
    CONSTRAINT subscriptions_block_requires_cancellation CHECK (((block_reason IS NULL) OR (status = 'cancelled'::text))),
    CONSTRAINT subscriptions_cancelled_at_required CHECK (((status = 'cancelled'::text) = (cancelled_at IS NOT NULL))),
    CONSTRAINT subscriptions_interval_amount_check CHECK ((interval_amount >= (0)::numeric)),
    CONSTRAINT subscriptions_pause_reason_required CHECK ((((status = 'paused'::text) = (pause_reason IS NOT NULL)) AND ((status = 'paused'::text) = (paused_at IS NOT NULL)))),
    CONSTRAINT subscriptions_quantity_check CHECK ((quantity >= 1)),
    CONSTRAINT subscriptions_revision_check CHECK ((revision >= 1)),
    CONSTRAINT subscriptions_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'cancelled'::text]))),
    CONSTRAINT subscriptions_suspension_requires_pause CHECK (((suspension_id IS NULL) OR ((status = 'paused'::text) AND (pause_reason = 'SECURITY'::text)))),
    CONSTRAINT subscriptions_timestamps_in_order CHECK (((updated_at >= created_at) AND (trial_ends_at > created_at)))
);

COMMENT ON COLUMN public.subscriptions.fhir_scopes IS 'The scopes that were agreed to. In force are those of them that the app still has';

CREATE TABLE public.suspension_notice_walks (
    app_id uuid NOT NULL,
    suspended_at timestamp(3) with time zone NOT NULL,
    cursor_at timestamp(3) with time zone,
    cursor_id uuid
);

CREATE TABLE public.suspensions (
    id uuid NOT NULL,
    app_id uuid NOT NULL,
    state text DEFAULT 'pausing'::text NOT NULL,
    reason text NOT NULL,
    started_at timestamp(3) with time zone NOT NULL,
    actor_issuer text NOT NULL,
    actor_subject text NOT NULL,
    request_id text NOT NULL,
    counted_at timestamp(3) with time zone,
    is_last_pass boolean DEFAULT false NOT NULL,
    cursor_at timestamp(3) with time zone,
    cursor_id uuid,
    found integer DEFAULT 0 NOT NULL,
    paused integer DEFAULT 0 NOT NULL,
    resumed integer DEFAULT 0 NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT suspensions_found_check CHECK ((found >= 0)),
    CONSTRAINT suspensions_paused_check CHECK ((paused >= 0)),
    CONSTRAINT suspensions_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 2000))),
    CONSTRAINT suspensions_resumed_check CHECK ((resumed >= 0)),
    CONSTRAINT suspensions_state_check CHECK ((state = ANY (ARRAY['pausing'::text, 'paused'::text, 'resuming'::text, 'ended'::text])))
);

CREATE TABLE public.undone_increases (
    subscription_id uuid NOT NULL,
    from_at timestamp(3) with time zone NOT NULL,
    to_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT undone_increases_check CHECK (((to_at > from_at) AND (to_at <= (from_at + '01:00:00'::interval))))
);

CREATE TABLE public.unstored_uploads (
    vendor_id uuid NOT NULL,
    sent_at timestamp with time zone NOT NULL
);

CREATE TABLE public.usage_days (
    subscription_id uuid NOT NULL,
    day date NOT NULL,
    metric text NOT NULL COLLATE pg_catalog."C",
    aggregation text NOT NULL,
    quantity numeric NOT NULL,
    record_count bigint NOT NULL,
    latest_at timestamp(3) with time zone,
    latest_id text COLLATE pg_catalog."C",
    plan_id uuid NOT NULL,
    is_trial boolean DEFAULT false NOT NULL,
    CONSTRAINT usage_days_aggregation_check CHECK ((aggregation = ANY (ARRAY['SUM'::text, 'COUNT'::text, 'MAX'::text, 'LATEST'::text]))),
    CONSTRAINT usage_days_check CHECK ((num_nonnulls(latest_at, latest_id) =
CASE
    WHEN ((aggregation = 'LATEST'::text) AND (record_count > 0)) THEN 2
    ELSE 0
END)),
    CONSTRAINT usage_days_quantity_check CHECK ((quantity >= (0)::numeric)),
    CONSTRAINT usage_days_record_count_check CHECK ((record_count >= 0))
);

CREATE TABLE public.usage_hours (
    subscription_id uuid NOT NULL,
    hour timestamp(0) with time zone NOT NULL,
    metric text NOT NULL COLLATE pg_catalog."C",
    aggregation text NOT NULL,
    quantity numeric NOT NULL,
    record_count bigint NOT NULL,
    latest_at timestamp(3) with time zone,
    latest_id text COLLATE pg_catalog."C",
    plan_id uuid NOT NULL,
    is_trial boolean DEFAULT false NOT NULL,
    CONSTRAINT usage_hours_aggregation_check CHECK ((aggregation = ANY (ARRAY['SUM'::text, 'COUNT'::text, 'MAX'::text, 'LATEST'::text]))),
    CONSTRAINT usage_hours_check CHECK ((num_nonnulls(latest_at, latest_id) =
CASE
    WHEN ((aggregation = 'LATEST'::text) AND (record_count > 0)) THEN 2
    ELSE 0
END)),
    CONSTRAINT usage_hours_hour_check CHECK ((date_trunc('hour'::text, (hour AT TIME ZONE 'UTC'::text)) = (hour AT TIME ZONE 'UTC'::text))),
    CONSTRAINT usage_hours_quantity_check CHECK ((quantity >= (0)::numeric)),
    CONSTRAINT usage_hours_record_count_check CHECK ((record_count >= 0))
);

CREATE TABLE public.usage_records (
    subscription_id uuid NOT NULL,
    record_id text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    occurred_at timestamp(3) with time zone NOT NULL,
    metric text NOT NULL COLLATE pg_catalog."C",
    quantity numeric(21,6) NOT NULL,
    aggregation text NOT NULL,
    voided boolean DEFAULT false NOT NULL,
    reported_at timestamp(3) with time zone NOT NULL,
    request_id text,
    caller_issuer text,
    caller_subject text,
    voided_at timestamp(3) with time zone,
    void_request_id text,
    void_issuer text,
    void_subject text,
    plan_id uuid,
    is_trial boolean DEFAULT false NOT NULL,
    CONSTRAINT usage_records_aggregation_check CHECK ((aggregation = ANY (ARRAY['SUM'::text, 'COUNT'::text, 'MAX'::text, 'LATEST'::text]))),
    CONSTRAINT usage_records_check CHECK ((day = ((occurred_at AT TIME ZONE 'UTC'::text))::date)),
    CONSTRAINT usage_records_metric_check CHECK (((length(metric) >= 1) AND (length(metric) <= 100))),
    CONSTRAINT usage_records_quantity_check CHECK ((quantity >= (0)::numeric)),
    CONSTRAINT usage_records_record_id_check CHECK ((record_id ~ '^[A-Za-z0-9._:-]{1,100}$'::text))
)
PARTITION BY RANGE (day);

CREATE TABLE public.usage_reporters (
    subscription_id uuid NOT NULL,
    reported_at timestamp(3) with time zone,
    second timestamp(0) with time zone NOT NULL,
    batches integer NOT NULL,
    day date,
    records integer DEFAULT 0 NOT NULL,
    CONSTRAINT usage_reporters_batches_check CHECK (((batches >= 1) AND (batches <= 20)))
);

CREATE VIEW public.used_media AS
 SELECT listings.app_id,
    lower((listings.draft ->> 'icon'::text)) AS media_id
   FROM public.listings
  WHERE ((listings.draft ->> 'icon'::text) IS NOT NULL)
UNION ALL
 SELECT listings.app_id,
    lower((screenshot.value ->> 'media'::text)) AS media_id
   FROM public.listings,
    LATERAL json_array_elements(
        CASE json_typeof((listings.draft -> 'screenshots'::text))
            WHEN 'array'::text THEN (listings.draft -> 'screenshots'::text)
            ELSE '[]'::json
        END) screenshot(value)
  WHERE ((screenshot.value ->> 'media'::text) IS NOT NULL)
UNION ALL
 SELECT listings.app_id,
    lower((listings.draft ->> 'baaDocument'::text)) AS media_id
   FROM public.listings
  WHERE ((listings.draft ->> 'baaDocument'::text) IS NOT NULL)
UNION ALL
 SELECT listings.app_id,
    lower((listings.draft #>> '{trust,ai,modelCard}'::text[])) AS media_id
   FROM public.listings
  WHERE ((listings.draft #>> '{trust,ai,modelCard}'::text[]) IS NOT NULL)
UNION ALL
 SELECT revision_media.app_id,
    (revision_media.media_id)::text AS media_id
   FROM public.revision_media;

CREATE TABLE public.webhook_endpoints (
    id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    encrypted_secret text NOT NULL,
    encrypted_next_secret text,
    promote_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    recent_tests timestamp(3) with time zone[] DEFAULT '{}'::timestamp with time zone[] NOT NULL,
    CONSTRAINT webhook_endpoints_encrypted_next_secret_check CHECK ((encrypted_next_secret ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'::text)),
    CONSTRAINT webhook_endpoints_encrypted_secret_check CHECK ((encrypted_secret ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'::text)),
    CONSTRAINT webhook_endpoints_events_check CHECK (((cardinality(events) >= 1) AND (cardinality(events) <= 20))),
    CONSTRAINT webhook_endpoints_next_secret_has_promote_at CHECK (((encrypted_next_secret IS NULL) = (promote_at IS NULL))),
    CONSTRAINT webhook_endpoints_url_check CHECK (((url ~ '^https?://'::text) AND (length(url) <= 2048)))
);

ALTER TABLE ONLY public.schema_migrations ALTER COLUMN id SET DEFAULT nextval('public.schema_migrations_id_seq'::regclass);

ALTER TABLE ONLY public.active_periods
    ADD CONSTRAINT active_periods_pkey PRIMARY KEY (subscription_id, to_at);

ALTER TABLE ONLY public.app_listings
    ADD CONSTRAINT app_listings_pkey PRIMARY KEY (app_id);

ALTER TABLE ONLY public.app_listings
    ADD CONSTRAINT app_listings_slug_key UNIQUE (slug);

ALTER TABLE ONLY public.app_popularity
    ADD CONSTRAINT app_popularity_pkey PRIMARY KEY (app_id);

ALTER TABLE ONLY public.app_search
    ADD CONSTRAINT app_search_pkey PRIMARY KEY (app_id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_sandbox_of_key UNIQUE (sandbox_of);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_slug_key UNIQUE (slug);

ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.baa_agreements
    ADD CONSTRAINT baa_agreements_pkey PRIMARY KEY (subscription_id);

ALTER TABLE ONLY public.callback_origins
    ADD CONSTRAINT callback_origins_origin_key UNIQUE (origin);

ALTER TABLE ONLY public.callback_origins
    ADD CONSTRAINT callback_origins_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.carried_over
    ADD CONSTRAINT carried_over_pkey PRIMARY KEY (month, party, party_id, currency);

ALTER TABLE ONLY public.categories
    ADD CONSTRAINT categories_pkey PRIMARY KEY (category);

ALTER TABLE ONLY public.categories
    ADD CONSTRAINT categories_position_key UNIQUE ("position");

ALTER TABLE ONLY public.category_counts
    ADD CONSTRAINT category_counts_pkey PRIMARY KEY (category);

ALTER TABLE ONLY public.cds_discoveries
    ADD CONSTRAINT cds_discoveries_pkey PRIMARY KEY (app_id);

ALTER TABLE ONLY public.closed_commissions
    ADD CONSTRAINT closed_commissions_pkey PRIMARY KEY (month, vendor_id, currency, charges);

ALTER TABLE public.closed_lines
    ADD CONSTRAINT closed_lines_credit_check CHECK (((credit_id IS NULL) OR ((adjusts IS NULL) AND (amount < (0)::numeric)))) NOT VALID;

ALTER TABLE ONLY public.closed_lines
    ADD CONSTRAINT closed_lines_pkey PRIMARY KEY (month, subscription_id, number);

ALTER TABLE ONLY public.closed_totals
    ADD CONSTRAINT closed_totals_pkey PRIMARY KEY (month, vendor_id, app_id, currency, charges, is_credit);

ALTER TABLE ONLY public.connections
    ADD CONSTRAINT connections_pkey PRIMARY KEY (subscription_id);

ALTER TABLE ONLY public.credits
    ADD CONSTRAINT credits_organisation_id_app_id_currency_month_number_key UNIQUE (organisation_id, app_id, currency, month, number);

ALTER TABLE ONLY public.credits
    ADD CONSTRAINT credits_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deleted_drafts
    ADD CONSTRAINT deleted_drafts_pkey PRIMARY KEY (app_id);

ALTER TABLE ONLY public.deleted_drafts
    ADD CONSTRAINT deleted_drafts_slug_key UNIQUE (slug);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_event_id_recipient_id_key UNIQUE (event_id, recipient_id);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.delivery_attempts
    ADD CONSTRAINT delivery_attempts_pkey PRIMARY KEY (started_at, id);

ALTER TABLE ONLY public.delivery_log_retention
    ADD CONSTRAINT delivery_log_retention_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.delivery_workers
    ADD CONSTRAINT delivery_workers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.draft_editors
    ADD CONSTRAINT draft_editors_pkey PRIMARY KEY (app_id, issuer, subject);

ALTER TABLE ONLY public.ended_commissions
    ADD CONSTRAINT ended_commissions_pkey PRIMARY KEY (vendor_id, ended_at);

ALTER TABLE ONLY public.ended_pauses
    ADD CONSTRAINT ended_pauses_pkey PRIMARY KEY (subscription_id, paused_at);

ALTER TABLE ONLY public.ended_terms
    ADD CONSTRAINT ended_terms_pkey PRIMARY KEY (subscription_id, ended_at);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_subscription_id_sequence_key UNIQUE (subscription_id, sequence);

ALTER TABLE ONLY public.extension_points
    ADD CONSTRAINT extension_points_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.idempotent_responses
    ADD CONSTRAINT idempotent_responses_pkey PRIMARY KEY (request);

ALTER TABLE ONLY public.late_usage
    ADD CONSTRAINT late_usage_pkey PRIMARY KEY (subscription_id, month);

ALTER TABLE ONLY public.listings
    ADD CONSTRAINT listings_pkey PRIMARY KEY (app_id);

ALTER TABLE ONLY public.listings
    ADD CONSTRAINT listings_slug_key UNIQUE (slug);

ALTER TABLE ONLY public.media
    ADD CONSTRAINT media_object_key_key UNIQUE (object_key);

ALTER TABLE ONLY public.media
    ADD CONSTRAINT media_pkey PRIMARY KEY (id);

ALTER TABLE public.media
    ADD CONSTRAINT media_purged_is_deleting CHECK (((purged_at IS NULL) OR (deleting_at IS NOT NULL))) NOT VALID;

ALTER TABLE ONLY public.notice_mails
    ADD CONSTRAINT notice_mails_audience_digest_at_key UNIQUE (audience, digest_at);

ALTER TABLE public.notice_mails
    ADD CONSTRAINT notice_mails_confirmation_has_mailbox CHECK (((confirms IS NULL) = (mailbox IS NULL))) NOT VALID;

ALTER TABLE public.notice_mails
    ADD CONSTRAINT notice_mails_confirmation_is_no_digest CHECK (((confirms IS NULL) OR (digest_at IS NULL))) NOT VALID;

ALTER TABLE ONLY public.notice_mails
    ADD CONSTRAINT notice_mails_pkey PRIMARY KEY (id);

ALTER TABLE public.notice_settings
    ADD CONSTRAINT notice_settings_muted_kinds_check CHECK ((cardinality(muted_kinds) <= 50)) NOT VALID;

ALTER TABLE ONLY public.notice_settings
    ADD CONSTRAINT notice_settings_pkey PRIMARY KEY (audience);

ALTER TABLE ONLY public.notices
    ADD CONSTRAINT notices_audience_key_key UNIQUE (audience, key);

ALTER TABLE public.notices
    ADD CONSTRAINT notices_kind_check CHECK ((kind ~ '^[a-z]+(-[a-z]+)*$'::text)) NOT VALID;

ALTER TABLE public.notices
    ADD CONSTRAINT notices_link_check CHECK (((link ~ '^/[a-z][A-Za-z0-9/._?=&%-]*$'::text) AND (length(link) <= 500))) NOT VALID;

ALTER TABLE ONLY public.notices
    ADD CONSTRAINT notices_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.open_commissions
    ADD CONSTRAINT open_commissions_pkey PRIMARY KEY (month, vendor_id, currency, charges);

ALTER TABLE public.open_lines
    ADD CONSTRAINT open_lines_credit_check CHECK (((credit_id IS NULL) OR ((adjusts IS NULL) AND (amount < (0)::numeric)))) NOT VALID;

ALTER TABLE ONLY public.open_lines
    ADD CONSTRAINT open_lines_pkey PRIMARY KEY (month, subscription_id, number);

ALTER TABLE ONLY public.open_totals
    ADD CONSTRAINT open_totals_pkey PRIMARY KEY (month, vendor_id, app_id, currency, charges, is_credit);

ALTER TABLE ONLY public.organisations
    ADD CONSTRAINT organisations_alias_key UNIQUE (alias);

ALTER TABLE ONLY public.organisations
    ADD CONSTRAINT organisations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.pricing_plans
    ADD CONSTRAINT pricing_plans_id_app_id_key UNIQUE (id, app_id);

ALTER TABLE ONLY public.pricing_plans
    ADD CONSTRAINT pricing_plans_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.reached_limits
    ADD CONSTRAINT reached_limits_pkey PRIMARY KEY (subscription_id);

ALTER TABLE ONLY public.recipients
    ADD CONSTRAINT recipients_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT reviews_app_id_number_key UNIQUE (app_id, number);

ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT reviews_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.revision_editors
    ADD CONSTRAINT revision_editors_pkey PRIMARY KEY (app_id, number, issuer, subject);

ALTER TABLE ONLY public.revision_media
    ADD CONSTRAINT revision_media_pkey PRIMARY KEY (app_id, number, media_id);

ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_id_key UNIQUE (id);

ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_pkey PRIMARY KEY (app_id, number);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.scope_agreements
    ADD CONSTRAINT scope_agreements_pkey PRIMARY KEY (subscription_id, revision);

ALTER TABLE ONLY public.scope_notice_walks
    ADD CONSTRAINT scope_notice_walks_pkey PRIMARY KEY (app_id);

ALTER TABLE ONLY public.search_synonyms
    ADD CONSTRAINT search_synonyms_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY public.search_terms
    ADD CONSTRAINT search_terms_pkey PRIMARY KEY (key, "position");

ALTER TABLE ONLY public.search_words
    ADD CONSTRAINT search_words_pkey PRIMARY KEY (word) INCLUDE (apps);

ALTER TABLE ONLY public.spend_limits
    ADD CONSTRAINT spend_limits_pkey PRIMARY KEY (subscription_id);

ALTER TABLE ONLY public.statement_months
    ADD CONSTRAINT statement_months_pkey PRIMARY KEY (month);

ALTER TABLE public.subscriptions
    ADD CONSTRAINT subscriptions_pause_reason_check CHECK ((pause_reason = ANY (ARRAY['NON_PAYMENT'::text, 'OPERATOR_HOLD'::text, 'SECURITY'::text, 'ORG_REQUEST'::text, 'SPEND_LIMIT'::text]))) NOT VALID;

ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.suspension_notice_walks
    ADD CONSTRAINT suspension_notice_walks_pkey PRIMARY KEY (app_id);

ALTER TABLE ONLY public.suspensions
    ADD CONSTRAINT suspensions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.undone_increases
    ADD CONSTRAINT undone_increases_pkey PRIMARY KEY (subscription_id, to_at);

ALTER TABLE ONLY public.usage_days
    ADD CONSTRAINT usage_days_pkey PRIMARY KEY (subscription_id, day, metric, aggregation, plan_id, is_trial);

ALTER TABLE ONLY public.usage_hours
    ADD CONSTRAINT usage_hours_pkey PRIMARY KEY (subscription_id, hour, metric, aggregation, plan_id, is_trial);

ALTER TABLE ONLY public.usage_records
    ADD CONSTRAINT usage_records_pkey PRIMARY KEY (subscription_id, record_id, day);

ALTER TABLE ONLY public.usage_reporters
    ADD CONSTRAINT usage_reporters_pkey PRIMARY KEY (subscription_id);

ALTER TABLE ONLY public.vendors
    ADD CONSTRAINT vendors_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.vendors
    ADD CONSTRAINT vendors_slug_key UNIQUE (slug);

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id);

CREATE INDEX app_listings_category ON public.app_listings USING btree (category, app_id);

CREATE INDEX app_listings_category_name ON public.app_listings USING btree (category, name, app_id);

CREATE INDEX app_listings_category_popularity ON public.app_listings USING btree (category, popularity, app_id);

CREATE INDEX app_listings_category_published_at ON public.app_listings USING btree (category, published_at, app_id);

CREATE INDEX app_listings_category_updated_at ON public.app_listings USING btree (category, updated_at, app_id);

CREATE INDEX app_listings_featured ON public.app_listings USING btree (popularity, app_id) WHERE featured;

CREATE INDEX app_listings_name ON public.app_listings USING btree (name, app_id);

CREATE INDEX app_listings_popularity ON public.app_listings USING btree (popularity, app_id);

CREATE INDEX app_listings_published_at ON public.app_listings USING btree (published_at, app_id);

CREATE INDEX app_listings_updated_at ON public.app_listings USING btree (updated_at, app_id);

CREATE INDEX app_popularity_category_popularity ON public.app_popularity USING btree (category, popularity, app_id);

CREATE INDEX app_popularity_featured ON public.app_popularity USING btree (popularity, app_id) WHERE featured;

CREATE INDEX app_popularity_popularity ON public.app_popularity USING btree (popularity, app_id);

CREATE INDEX app_search_head_words_0 ON public.app_search USING gin (head_words) WITH (fastupdate=off) WHERE (tier = 0);

CREATE INDEX app_search_head_words_1 ON public.app_search USING gin (head_words) WITH (fastupdate=off) WHERE (tier = 1);

CREATE INDEX app_search_head_words_2 ON public.app_search USING gin (head_words) WITH (fastupdate=off) WHERE (tier = 2);

CREATE INDEX app_search_head_words_3 ON public.app_search USING gin (head_words) WITH (fastupdate=off) WHERE (tier = 3);

CREATE INDEX app_search_head_words_4 ON public.app_search USING gin (head_words) WITH (fastupdate=off) WHERE (tier = 4);

CREATE INDEX app_search_name ON public.app_search USING btree (name) INCLUDE (app_id, category);

CREATE INDEX app_search_popular ON public.app_search USING btree (app_id, tier) WHERE (tier < 4);

CREATE INDEX app_search_similar_name ON public.app_search USING gin (name public.gin_trgm_ops) WITH (fastupdate=off);

CREATE INDEX app_search_words_0 ON public.app_search USING gin (words) WITH (fastupdate=off) WHERE (tier = 0);

CREATE INDEX app_search_words_1 ON public.app_search USING gin (words) WITH (fastupdate=off) WHERE (tier = 1);

CREATE INDEX app_search_words_2 ON public.app_search USING gin (words) WITH (fastupdate=off) WHERE (tier = 2);

CREATE INDEX app_search_words_3 ON public.app_search USING gin (words) WITH (fastupdate=off) WHERE (tier = 3);

CREATE INDEX app_search_words_4 ON public.app_search USING gin (words) WITH (fastupdate=off) WHERE (tier = 4);

CREATE INDEX apps_by_category ON public.apps USING btree (category);

CREATE INDEX apps_by_certified_until ON public.apps USING btree (certified_until) WHERE (certified_until IS NOT NULL);

CREATE INDEX apps_by_name_skeleton ON public.apps USING btree (public.name_skeleton(name)) WHERE (sandbox_of IS NULL);

CREATE INDEX apps_by_vendor ON public.apps USING btree (vendor_id);

CREATE INDEX apps_published_of_vendor ON public.apps USING btree (vendor_id, category, id) WHERE (status = 'published'::text);

CREATE INDEX audit_entries_newest ON public.audit_entries USING btree (at, id);

CREATE INDEX audit_entries_of_action ON public.audit_entries USING btree (action, at, id);

CREATE INDEX audit_entries_of_actor ON public.audit_entries USING btree (actor_subject, at, id);

CREATE INDEX audit_entries_of_actor_and_action ON public.audit_entries USING btree (actor_subject, action, at, id);

CREATE INDEX audit_entries_of_organisation_and_action ON public.audit_entries USING btree (on_behalf_of, action, at, id);

CREATE INDEX audit_entries_of_organisation_and_target ON public.audit_entries USING btree (on_behalf_of, target_id, at, id);

CREATE INDEX audit_entries_of_organisation_target_and_action ON public.audit_entries USING btree (on_behalf_of, target_id, action, at, id);

CREATE INDEX audit_entries_on_behalf_of ON public.audit_entries USING btree (on_behalf_of, at, id);

CREATE INDEX callback_origins_held ON public.callback_origins USING btree (held_since) WHERE (status = 'held'::text);

CREATE INDEX closed_lines_negative ON public.closed_lines USING btree (month, organisation_id, currency) WHERE (amount < (0)::numeric);

CREATE INDEX closed_lines_of_organisation ON public.closed_lines USING btree (month, organisation_id, currency, subscription_id, number);

CREATE INDEX closed_lines_of_vendor ON public.closed_lines USING btree (month, vendor_id, subscription_id, number);

CREATE INDEX credits_of_subscription ON public.credits USING btree (month, subscription_id);

CREATE INDEX deliveries_dropped ON public.deliveries USING btree (recipient_id, created_at, id) WHERE (status = 'dropped'::text);

CREATE INDEX deliveries_failed ON public.deliveries USING btree (recipient_id, settled_at) WHERE (status = ANY (ARRAY['failed'::text, 'expired'::text]));

CREATE INDEX deliveries_failed_by_time ON public.deliveries USING btree (settled_at) WHERE (status = ANY (ARRAY['failed'::text, 'expired'::text]));

CREATE INDEX deliveries_of_recipient ON public.deliveries USING btree (recipient_id, created_at DESC, id DESC);

CREATE INDEX deliveries_queued_by_recipient ON public.deliveries USING btree (recipient_id, created_at) WHERE (status = 'queued'::text);

CREATE INDEX deliveries_to_replay ON public.deliveries USING btree (recipient_id, created_at, id) WHERE (status = ANY (ARRAY['failed'::text, 'expired'::text]));

CREATE INDEX deliveries_unsettled_by_age ON public.deliveries USING btree (recipient_id, created_at, id) WHERE (settled_at IS NULL);

CREATE INDEX deliveries_unsettled_by_ordering_key ON public.deliveries USING btree (recipient_id, subscription_id, sequence) WHERE (settled_at IS NULL);

CREATE INDEX deliveries_waiting_by_age ON public.deliveries USING btree (created_at) WHERE (status = 'waiting'::text);

CREATE INDEX delivery_attempts_of_delivery ON ONLY public.delivery_attempts USING btree (delivery_id, started_at);

CREATE INDEX ended_pauses_by_end ON public.ended_pauses USING btree (subscription_id, ended_at);

CREATE INDEX events_of_vendor ON public.events USING btree (vendor_id, occurred_at, id);

CREATE INDEX idempotent_responses_by_age ON public.idempotent_responses USING btree (created_at);

CREATE INDEX listings_by_creation ON public.listings USING btree (created_at, app_id);

CREATE INDEX listings_by_vendor ON public.listings USING btree (vendor_id, created_at, app_id);

CREATE UNIQUE INDEX media_by_content ON public.media USING btree (app_id, kind, sha256) WHERE (deleting_at IS NULL);

CREATE INDEX media_by_sha256 ON public.media USING btree (vendor_id, sha256);

CREATE INDEX media_by_source ON public.media USING btree (app_id, kind, source_sha256) WHERE ((deleting_at IS NULL) AND (source_sha256 IS NOT NULL));

CREATE INDEX media_by_source_sha256 ON public.media USING btree (vendor_id, source_sha256) WHERE (source_sha256 IS NOT NULL);

CREATE INDEX media_by_vendor ON public.media USING btree (vendor_id, created_at);

CREATE INDEX media_to_delete ON public.media USING btree (id) WHERE (deleting_at IS NOT NULL);

CREATE INDEX media_unused ON public.media USING btree (unused_since) WHERE ((deleting_at IS NULL) AND (published_at IS NULL));

CREATE INDEX notice_mails_due ON public.notice_mails USING btree (due_at, id) WHERE (settled_at IS NULL);

CREATE INDEX notice_mails_expiring ON public.notice_mails USING btree (expires_at) WHERE (settled_at IS NULL);

CREATE INDEX notice_mails_of_audience ON public.notice_mails USING btree (audience, created_at) WHERE (digest_at IS NULL);

CREATE INDEX notice_mails_of_mailbox ON public.notice_mails USING btree (mailbox) WHERE (mailbox IS NOT NULL);

CREATE INDEX notice_mails_settled ON public.notice_mails USING btree (settled_at) WHERE (settled_at IS NOT NULL);

CREATE INDEX notices_by_age ON public.notices USING btree (created_at);

CREATE INDEX notices_of_audience ON public.notices USING btree (audience, created_at, id);

CREATE INDEX notices_of_digest ON public.notices USING btree (audience, digest_at, id) WHERE (digest_at IS NOT NULL);

CREATE INDEX notices_read_by_age ON public.notices USING btree (created_at) WHERE (read_at IS NOT NULL);

CREATE INDEX notices_unread ON public.notices USING btree (audience, created_at, id) WHERE (read_at IS NULL);

CREATE INDEX open_lines_month_organisation_id_currency_subscription_id_n_idx ON public.open_lines USING btree (month, organisation_id, currency, subscription_id, number);

CREATE INDEX open_lines_month_vendor_id_subscription_id_number_idx ON public.open_lines USING btree (month, vendor_id, subscription_id, number);

CREATE INDEX organisations_of_origin ON public.organisations USING btree (callback_origin, id) WHERE (callback_origin IS NOT NULL);

CREATE INDEX organisations_of_vendor ON public.organisations USING btree (vendor_id) WHERE (vendor_id IS NOT NULL);

CREATE INDEX pricing_plans_by_app ON public.pricing_plans USING btree (app_id);

CREATE UNIQUE INDEX pricing_plans_on_sale_once ON public.pricing_plans USING btree (app_id, name) WHERE ((published_at IS NOT NULL) AND (retired_at IS NULL));

CREATE INDEX recipients_not_active ON public.recipients USING btree (status, held_since) WHERE (status <> 'active'::text);

CREATE INDEX replays_of_recipient ON public.replays USING btree (recipient_id, created_at DESC, id DESC);

CREATE UNIQUE INDEX replays_one_running ON public.replays USING btree (recipient_id) WHERE (status = 'running'::text);

CREATE INDEX reviews_approved ON public.reviews USING btree (app_id, number) WHERE (decision = 'approved'::text);

CREATE INDEX reviews_by_status ON public.reviews USING btree (status, submitted_at, id);

CREATE INDEX reviews_of_vendor ON public.reviews USING btree (vendor_id, submitted_at, id);

CREATE INDEX reviews_of_vendor_open ON public.reviews USING btree (vendor_id) WHERE (decision IS NULL);

CREATE UNIQUE INDEX reviews_one_open ON public.reviews USING btree (app_id) WHERE (decision IS NULL);

CREATE INDEX reviews_open_by_due_at ON public.reviews USING btree (due_at) WHERE (decision IS NULL);

CREATE INDEX revision_media_by_media ON public.revision_media USING btree (media_id);

CREATE INDEX search_terms_by_position ON public.search_terms USING btree ("position");

CREATE INDEX search_terms_inputs ON public.search_terms USING btree (phrase) WHERE is_input;

CREATE INDEX search_words_similar ON public.search_words USING gin (word public.gin_trgm_ops) WITH (fastupdate=off);

CREATE INDEX search_words_stem ON public.search_words USING btree (stem) INCLUDE (apps, in_synonyms);

CREATE INDEX subscriptions_by_status ON public.subscriptions USING btree (status, created_at DESC, id DESC);

CREATE INDEX subscriptions_newest_first ON public.subscriptions USING btree (organisation_id, created_at DESC, id DESC);

CREATE INDEX subscriptions_of_account ON public.subscriptions USING btree (organisation_id, app_id, created_at);

CREATE INDEX subscriptions_of_app ON public.subscriptions USING btree (app_id, status, created_at DESC, id DESC);

CREATE INDEX subscriptions_of_app_paused_by_reason ON public.subscriptions USING btree (app_id, pause_reason, created_at, id) WHERE (status = 'paused'::text);

CREATE INDEX subscriptions_of_suspension ON public.subscriptions USING btree (suspension_id, id) WHERE (suspension_id IS NOT NULL);

CREATE UNIQUE INDEX subscriptions_one_live_or_blocking ON public.subscriptions USING btree (organisation_id, app_id) WHERE ((status <> 'cancelled'::text) OR (block_reason IS NOT NULL));

CREATE UNIQUE INDEX subscriptions_one_trial ON public.subscriptions USING btree (organisation_id, app_id) WHERE (trial_ends_at IS NOT NULL);

CREATE INDEX subscriptions_paused_by_reason ON public.subscriptions USING btree (pause_reason, created_at, id) WHERE (status = 'paused'::text);

CREATE UNIQUE INDEX suspensions_one_per_app ON public.suspensions USING btree (app_id) WHERE (state <> 'ended'::text);

CREATE INDEX unstored_uploads_by_vendor ON public.unstored_uploads USING btree (vendor_id, sent_at);

CREATE INDEX usage_records_highest ON ONLY public.usage_records USING btree (subscription_id, metric, date_trunc('hour'::text, (occurred_at AT TIME ZONE 'UTC'::text)), quantity) WHERE ((aggregation = 'MAX'::text) AND (NOT voided));

CREATE INDEX usage_records_latest ON ONLY public.usage_records USING btree (subscription_id, metric, occurred_at, record_id) WHERE ((aggregation = 'LATEST'::text) AND (NOT voided));

CREATE INDEX vendors_by_name_skeleton ON public.vendors USING btree (public.name_skeleton(name));

CREATE INDEX webhook_endpoints_of_vendor ON public.webhook_endpoints USING btree (vendor_id, created_at, id) WHERE (deleted_at IS NULL);

CREATE TRIGGER apps_reject_unknown_extension_points BEFORE INSERT OR UPDATE OF extension_points ON public.apps FOR EACH ROW EXECUTE FUNCTION public.apps_reject_unknown_extension_points();

CREATE TRIGGER audit_entries_reject_changes BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION public.audit_entries_reject_changes();

CREATE TRIGGER baa_agreements_reject_changes BEFORE DELETE OR UPDATE OR TRUNCATE ON public.baa_agreements FOR EACH STATEMENT EXECUTE FUNCTION public.baa_agreements_reject_changes();

CREATE TRIGGER carried_over_reject_additions AFTER INSERT ON public.carried_over REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.carried_over_reject_additions();

CREATE TRIGGER carried_over_reject_changes BEFORE DELETE OR UPDATE OR TRUNCATE ON public.carried_over FOR EACH STATEMENT EXECUTE FUNCTION public.statements_reject_changes();

CREATE TRIGGER closed_commissions_reject_additions AFTER INSERT ON public.closed_commissions REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.statements_reject_additions('totalling');

CREATE TRIGGER closed_commissions_reject_changes BEFORE DELETE OR UPDATE OR TRUNCATE ON public.closed_commissions FOR EACH STATEMENT EXECUTE FUNCTION public.statements_reject_changes();

CREATE TRIGGER closed_lines_reject_additions AFTER INSERT ON public.closed_lines REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.statements_reject_additions('charging');

CREATE TRIGGER closed_lines_reject_changes BEFORE DELETE OR UPDATE OR TRUNCATE ON public.closed_lines FOR EACH STATEMENT EXECUTE FUNCTION public.statements_reject_changes();

CREATE TRIGGER closed_totals_reject_additions AFTER INSERT ON public.closed_totals REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.statements_reject_additions('totalling');

CREATE TRIGGER closed_totals_reject_changes BEFORE DELETE OR UPDATE OR TRUNCATE ON public.closed_totals FOR EACH STATEMENT EXECUTE FUNCTION public.statements_reject_changes();

CREATE TRIGGER count_deleted AFTER DELETE ON public.app_listings REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION public.count_listings();

CREATE TRIGGER count_inserted AFTER INSERT ON public.app_listings REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION public.count_listings();

CREATE TRIGGER count_updated AFTER UPDATE ON public.app_listings REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION public.count_listings();

CREATE TRIGGER credits_reject_above_charge BEFORE INSERT ON public.credits FOR EACH ROW EXECUTE FUNCTION public.credits_reject_above_charge();

CREATE TRIGGER credits_reject_changes BEFORE DELETE OR UPDATE OR TRUNCATE ON public.credits FOR EACH STATEMENT EXECUTE FUNCTION public.credits_reject_changes();

CREATE TRIGGER draft_editors_reject_changes BEFORE UPDATE ON public.draft_editors FOR EACH ROW EXECUTE FUNCTION public.draft_editors_reject_changes();

CREATE TRIGGER events_set_vendor BEFORE INSERT ON public.events FOR EACH ROW WHEN (((new.vendor_id IS NULL) AND (new.subscription_id IS NOT NULL))) EXECUTE FUNCTION public.events_set_vendor();

CREATE TRIGGER listings_notify_client_changed AFTER UPDATE OF published_revision, suspended_at ON public.listings FOR EACH ROW WHEN (((old.published_revision IS DISTINCT FROM new.published_revision) OR (old.suspended_at IS DISTINCT FROM new.suspended_at))) EXECUTE FUNCTION public.listings_notify_client_changed();

CREATE TRIGGER listings_update_app_status AFTER UPDATE OF unpublished_at, suspended_at ON public.listings FOR EACH ROW WHEN ((((old.unpublished_at IS NULL) AND (old.suspended_at IS NULL)) <> ((new.unpublished_at IS NULL) AND (new.suspended_at IS NULL)))) EXECUTE FUNCTION public.listings_update_app_status();

CREATE TRIGGER lock_catalog BEFORE INSERT OR DELETE OR UPDATE ON public.apps FOR EACH STATEMENT EXECUTE FUNCTION public.lock_catalog();

CREATE TRIGGER lock_catalog BEFORE INSERT OR DELETE OR UPDATE ON public.categories FOR EACH STATEMENT EXECUTE FUNCTION public.lock_catalog();

CREATE TRIGGER lock_catalog BEFORE INSERT OR DELETE OR UPDATE ON public.pricing_plans FOR EACH STATEMENT EXECUTE FUNCTION public.lock_catalog();

CREATE TRIGGER lock_catalog BEFORE INSERT OR DELETE OR UPDATE ON public.vendors FOR EACH STATEMENT EXECUTE FUNCTION public.lock_catalog();

CREATE TRIGGER media_keep_purged BEFORE DELETE OR UPDATE OF purged_at ON public.media FOR EACH ROW WHEN ((old.purged_at IS NOT NULL)) EXECUTE FUNCTION public.media_keep_purged();

CREATE TRIGGER organisations_insert_recipient AFTER INSERT ON public.organisations FOR EACH ROW EXECUTE FUNCTION public.organisations_insert_recipient();

CREATE TRIGGER pricing_plans_reject_changes BEFORE DELETE OR UPDATE ON public.pricing_plans FOR EACH ROW EXECUTE FUNCTION public.pricing_plans_reject_changes();

CREATE TRIGGER refresh_deleted AFTER DELETE ON public.apps REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.refresh_changed_apps();

CREATE TRIGGER refresh_deleted AFTER DELETE ON public.pricing_plans REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.refresh_apps_of_changed_plans();

CREATE TRIGGER refresh_inserted AFTER INSERT ON public.apps REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.refresh_changed_apps();

CREATE TRIGGER refresh_inserted AFTER INSERT ON public.categories REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.refresh_apps_of_changed_categories();

CREATE TRIGGER refresh_inserted AFTER INSERT ON public.pricing_plans REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.refresh_apps_of_changed_plans();

CREATE TRIGGER refresh_updated AFTER UPDATE ON public.apps REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.refresh_changed_apps();

CREATE TRIGGER refresh_updated AFTER UPDATE ON public.categories REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.refresh_apps_of_changed_categories();

CREATE TRIGGER refresh_updated AFTER UPDATE ON public.pricing_plans REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.refresh_apps_of_changed_plans();

CREATE TRIGGER refresh_updated AFTER UPDATE ON public.vendors REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.refresh_apps_of_changed_vendors();

CREATE TRIGGER reviews_reject_invalid_changes BEFORE UPDATE ON public.reviews FOR EACH ROW EXECUTE FUNCTION public.reviews_reject_invalid_changes();

CREATE TRIGGER scope_agreements_reject_changes BEFORE DELETE OR UPDATE OR TRUNCATE ON public.scope_agreements FOR EACH STATEMENT EXECUTE FUNCTION public.scope_agreements_reject_changes();

CREATE TRIGGER statement_months_reject_additions AFTER INSERT ON public.statement_months FOR EACH ROW EXECUTE FUNCTION public.statement_months_reject_additions();

CREATE TRIGGER statement_months_reject_changes BEFORE DELETE OR UPDATE ON public.statement_months FOR EACH ROW WHEN ((old.status = ANY (ARRAY['closed'::text, 'skipped'::text]))) EXECUTE FUNCTION public.statement_months_reject_changes();

CREATE TRIGGER statement_months_reject_steps BEFORE UPDATE ON public.statement_months FOR EACH ROW WHEN (((old.status IS DISTINCT FROM new.status) AND (((old.status <> 'open'::text) OR (new.status <> 'closing'::text)) AND ((old.status <> 'closing'::text) OR (new.status <> 'closed'::text))))) EXECUTE FUNCTION public.statement_months_reject_steps();

CREATE TRIGGER statement_months_reject_truncation BEFORE TRUNCATE ON public.statement_months FOR EACH STATEMENT EXECUTE FUNCTION public.statement_months_reject_changes();

CREATE TRIGGER statement_months_require_credits BEFORE UPDATE ON public.statement_months FOR EACH ROW WHEN (((old.status = 'closing'::text) AND (old.phase = 'charging'::text) AND (new.phase <> 'charging'::text))) EXECUTE FUNCTION public.statement_months_require_credits();

CREATE TRIGGER subscriptions_begin_period BEFORE INSERT OR UPDATE ON public.subscriptions FOR EACH ROW EXECUTE FUNCTION public.subscriptions_begin_period();

CREATE TRIGGER subscriptions_record_active_period AFTER UPDATE ON public.subscriptions FOR EACH ROW WHEN (((old.active_since < new.updated_at) AND (((old.status IS DISTINCT FROM new.status) OR (old.pricing_plan_id IS DISTINCT FROM new.pricing_plan_id)) OR (old.quantity IS DISTINCT FROM new.quantity)))) EXECUTE FUNCTION public.subscriptions_record_active_period();

CREATE TRIGGER subscriptions_record_ended_pause AFTER UPDATE OF status ON public.subscriptions FOR EACH ROW WHEN (((old.status = 'paused'::text) AND (new.status <> 'paused'::text))) EXECUTE FUNCTION public.subscriptions_record_ended_pause();

CREATE TRIGGER subscriptions_record_ended_terms AFTER UPDATE OF pricing_plan_id, quantity ON public.subscriptions FOR EACH ROW WHEN (((old.pricing_plan_id IS DISTINCT FROM new.pricing_plan_id) OR (old.quantity IS DISTINCT FROM new.quantity))) EXECUTE FUNCTION public.subscriptions_record_ended_terms();

CREATE TRIGGER subscriptions_reject_invalid_changes BEFORE UPDATE ON public.subscriptions FOR EACH ROW EXECUTE FUNCTION public.subscriptions_reject_invalid_changes();

CREATE TRIGGER subscriptions_reject_longer_trial BEFORE UPDATE OF trial_ends_at ON public.subscriptions FOR EACH ROW WHEN ((new.trial_ends_at IS DISTINCT FROM old.trial_ends_at)) EXECUTE FUNCTION public.subscriptions_reject_longer_trial();

CREATE TRIGGER subscriptions_reject_mixed_kinds BEFORE INSERT OR UPDATE OF organisation_id, app_id, sandbox_revision ON public.subscriptions FOR EACH ROW EXECUTE FUNCTION public.subscriptions_reject_mixed_kinds();

CREATE TRIGGER subscriptions_reject_other_currency BEFORE UPDATE OF pricing_plan_id ON public.subscriptions FOR EACH ROW WHEN ((old.pricing_plan_id <> new.pricing_plan_id)) EXECUTE FUNCTION public.subscriptions_reject_other_currency();

CREATE TRIGGER subscriptions_set_scopes BEFORE INSERT ON public.subscriptions FOR EACH ROW WHEN ((new.fhir_scopes IS NULL)) EXECUTE FUNCTION public.subscriptions_set_scopes();

CREATE TRIGGER suspensions_notify_client_changed AFTER UPDATE OF state ON public.suspensions FOR EACH ROW WHEN (((old.state = ANY (ARRAY['pausing'::text, 'paused'::text])) <> (new.state = ANY (ARRAY['pausing'::text, 'paused'::text])))) EXECUTE FUNCTION public.suspensions_notify_client_changed();

CREATE TRIGGER suspensions_notify_client_started AFTER INSERT ON public.suspensions FOR EACH ROW EXECUTE FUNCTION public.suspensions_notify_client_changed();

CREATE TRIGGER undone_increases_reject_second BEFORE INSERT ON public.undone_increases FOR EACH ROW EXECUTE FUNCTION public.undone_increases_reject_second();

CREATE TRIGGER usage_records_reject_changes BEFORE UPDATE ON public.usage_records FOR EACH ROW EXECUTE FUNCTION public.usage_records_reject_changes();

CREATE TRIGGER vendors_record_ended_commission AFTER UPDATE OF commission_percent ON public.vendors FOR EACH ROW WHEN ((old.commission_percent <> new.commission_percent)) EXECUTE FUNCTION public.vendors_record_ended_commission();

CREATE TRIGGER webhook_endpoints_insert_recipient AFTER INSERT ON public.webhook_endpoints FOR EACH ROW EXECUTE FUNCTION public.webhook_endpoints_insert_recipient();

ALTER TABLE ONLY public.active_periods
    ADD CONSTRAINT active_periods_pricing_plan_id_fkey FOREIGN KEY (pricing_plan_id) REFERENCES public.pricing_plans(id);

ALTER TABLE ONLY public.active_periods
    ADD CONSTRAINT active_periods_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.app_listings
    ADD CONSTRAINT app_listings_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.apps(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.app_listings
    ADD CONSTRAINT app_listings_category_fkey FOREIGN KEY (category) REFERENCES public.categories(category);

ALTER TABLE ONLY public.app_popularity
    ADD CONSTRAINT app_popularity_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.app_listings(app_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.app_search
    ADD CONSTRAINT app_search_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.app_listings(app_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_category_fkey FOREIGN KEY (category) REFERENCES public.categories(category);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_vendor_id_fkey FOREIGN KEY (vendor_id) REFERENCES public.vendors(id);

ALTER TABLE ONLY public.baa_agreements
    ADD CONSTRAINT baa_agreements_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.category_counts
    ADD CONSTRAINT category_counts_category_fkey FOREIGN KEY (category) REFERENCES public.categories(category) ON DELETE CASCADE;

ALTER TABLE ONLY public.cds_discoveries
    ADD CONSTRAINT cds_discoveries_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.listings(app_id);

ALTER TABLE ONLY public.connections
    ADD CONSTRAINT connections_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.credits
    ADD CONSTRAINT credits_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES public.events(id);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.draft_editors
    ADD CONSTRAINT draft_editors_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.listings(app_id);

ALTER TABLE ONLY public.ended_commissions
    ADD CONSTRAINT ended_commissions_vendor_id_fkey FOREIGN KEY (vendor_id) REFERENCES public.vendors(id);

ALTER TABLE ONLY public.ended_pauses
    ADD CONSTRAINT ended_pauses_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.ended_terms
    ADD CONSTRAINT ended_terms_pricing_plan_id_fkey FOREIGN KEY (pricing_plan_id) REFERENCES public.pricing_plans(id);

ALTER TABLE ONLY public.ended_terms
    ADD CONSTRAINT ended_terms_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.listings
    ADD CONSTRAINT listings_app_id_published_revision_fkey FOREIGN KEY (app_id, published_revision) REFERENCES public.revisions(app_id, number);

ALTER TABLE ONLY public.listings
    ADD CONSTRAINT listings_vendor_id_fkey FOREIGN KEY (vendor_id) REFERENCES public.vendors(id);

ALTER TABLE ONLY public.media
    ADD CONSTRAINT media_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.listings(app_id) ON DELETE SET NULL NOT VALID;

ALTER TABLE ONLY public.media
    ADD CONSTRAINT media_vendor_id_fkey FOREIGN KEY (vendor_id) REFERENCES public.vendors(id);

ALTER TABLE ONLY public.organisations
    ADD CONSTRAINT organisations_vendor_id_fkey FOREIGN KEY (vendor_id) REFERENCES public.vendors(id);

ALTER TABLE ONLY public.pricing_plans
    ADD CONSTRAINT pricing_plans_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.apps(id);

ALTER TABLE ONLY public.reached_limits
    ADD CONSTRAINT reached_limits_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.replays
    ADD CONSTRAINT replays_recipient_id_fkey FOREIGN KEY (recipient_id) REFERENCES public.recipients(id);

ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT reviews_app_id_number_fkey FOREIGN KEY (app_id, number) REFERENCES public.revisions(app_id, number);

ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT reviews_vendor_id_fkey FOREIGN KEY (vendor_id) REFERENCES public.vendors(id);

ALTER TABLE ONLY public.revision_editors
    ADD CONSTRAINT revision_editors_app_id_number_fkey FOREIGN KEY (app_id, number) REFERENCES public.revisions(app_id, number);

ALTER TABLE ONLY public.revision_media
    ADD CONSTRAINT revision_media_app_id_number_fkey FOREIGN KEY (app_id, number) REFERENCES public.revisions(app_id, number);

ALTER TABLE ONLY public.revision_media
    ADD CONSTRAINT revision_media_media_id_fkey FOREIGN KEY (media_id) REFERENCES public.media(id);

ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.listings(app_id);

ALTER TABLE ONLY public.scope_agreements
    ADD CONSTRAINT scope_agreements_have_events FOREIGN KEY (subscription_id, revision) REFERENCES public.events(subscription_id, sequence) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.scope_agreements
    ADD CONSTRAINT scope_agreements_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.scope_notice_walks
    ADD CONSTRAINT scope_notice_walks_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.listings(app_id);

ALTER TABLE ONLY public.search_terms
    ADD CONSTRAINT search_terms_position_fkey FOREIGN KEY ("position") REFERENCES public.search_synonyms("position") ON DELETE CASCADE;

ALTER TABLE ONLY public.spend_limits
    ADD CONSTRAINT spend_limits_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.apps(id);

ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);

ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_plan_belongs_to_app FOREIGN KEY (pricing_plan_id, app_id) REFERENCES public.pricing_plans(id, app_id);

ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_suspension_id_fkey FOREIGN KEY (suspension_id) REFERENCES public.suspensions(id);

ALTER TABLE ONLY public.suspension_notice_walks
    ADD CONSTRAINT suspension_notice_walks_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.listings(app_id);

ALTER TABLE ONLY public.suspensions
    ADD CONSTRAINT suspensions_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.listings(app_id);

ALTER TABLE ONLY public.undone_increases
    ADD CONSTRAINT undone_increases_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.unstored_uploads
    ADD CONSTRAINT unstored_uploads_vendor_id_fkey FOREIGN KEY (vendor_id) REFERENCES public.vendors(id);

ALTER TABLE ONLY public.usage_days
    ADD CONSTRAINT usage_days_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.usage_hours
    ADD CONSTRAINT usage_hours_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.usage_reporters
    ADD CONSTRAINT usage_reporters_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES public.subscriptions(id);

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_vendor_id_fkey FOREIGN KEY (vendor_id) REFERENCES public.vendors(id);

GRANT USAGE ON SCHEMA public TO marketplace_service;

REVOKE ALL ON FUNCTION public.adopt_apps() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.approve_review(given_review uuid, given_issuer text, given_subject text, given_at timestamp with time zone, media_url text, new_plan_ids uuid[], verified integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.approve_review(given_review uuid, given_issuer text, given_subject text, given_at timestamp with time zone, media_url text, new_plan_ids uuid[], verified integer[]) TO marketplace_service;

REVOKE ALL ON FUNCTION public.credits_reject_above_charge() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.delete_draft(given_listing uuid, given_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.delete_draft(given_listing uuid, given_at timestamp with time zone) TO marketplace_service;

REVOKE ALL ON FUNCTION public.delete_unused_search_words(given text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.delete_unused_search_words(given text[]) TO marketplace_service;

REVOKE ALL ON FUNCTION public.drop_attempt_partition(day date, kept_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_attempt_partition(day date, kept_days integer) TO marketplace_service;

REVOKE ALL ON FUNCTION public.drop_usage_partition(day date) FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_usage_partition(day date) TO marketplace_service;

REVOKE ALL ON FUNCTION public.end_certifications(max_apps integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_certifications(max_apps integer) TO marketplace_service;

REVOKE ALL ON FUNCTION public.install_draft(given_listing uuid, given_organisation uuid, given_at timestamp with time zone, given_icon_url text, new_app uuid, new_plan uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.install_draft(given_listing uuid, given_organisation uuid, given_at timestamp with time zone, given_icon_url text, new_app uuid, new_plan uuid) TO marketplace_service;

REVOKE ALL ON FUNCTION public.listings_update_app_status() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.prepare_attempt_partitions(today date) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prepare_attempt_partitions(today date) TO marketplace_service;

REVOKE ALL ON FUNCTION public.prepare_usage_partitions(today date) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prepare_usage_partitions(today date) TO marketplace_service;

REVOKE ALL ON FUNCTION public.publish_plans(given_app uuid, plans json, new_ids uuid[], given_at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.refresh_apps_of_changed_plans() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.refresh_apps_of_changed_vendors() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.refresh_changed_apps() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.refresh_listings(changed uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.refresh_search_terms() FROM PUBLIC;
GRANT ALL ON FUNCTION public.refresh_search_terms() TO marketplace_service;

REVOKE ALL ON FUNCTION public.remove_purged_media(purged uuid[], given_icon_url text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.remove_purged_media(purged uuid[], given_icon_url text) TO marketplace_service;

GRANT SELECT ON TABLE public.search_terms TO marketplace_service;

REVOKE ALL ON FUNCTION public.subscriptions_record_active_period() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.subscriptions_record_ended_pause() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.subscriptions_record_ended_terms() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.vendors_record_ended_commission() FROM PUBLIC;

GRANT SELECT ON TABLE public.active_periods TO marketplace_service;

GRANT SELECT ON TABLE public.app_listings TO marketplace_service;

GRANT SELECT ON TABLE public.app_popularity TO marketplace_service;

GRANT UPDATE(popularity) ON TABLE public.app_popularity TO marketplace_service;

GRANT SELECT ON TABLE public.app_search TO marketplace_service;

GRANT UPDATE(tier) ON TABLE public.app_search TO marketplace_service;

GRANT SELECT(id) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(slug) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(vendor_id) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(category) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(status) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(name) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(icon_url) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(featured),UPDATE(featured) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(extension_points) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(smart_launch_url) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(fhir_scopes) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(baa_document_sha256) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(baa_required) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(sandbox_of) ON TABLE public.apps TO marketplace_service;

GRANT SELECT(sandbox_revision) ON TABLE public.apps TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.audit_entries TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.baa_agreements TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.callback_origins TO marketplace_service;

GRANT UPDATE(status) ON TABLE public.callback_origins TO marketplace_service;

GRANT UPDATE(consecutive_failures) ON TABLE public.callback_origins TO marketplace_service;

GRANT UPDATE(failed_recipient_id) ON TABLE public.callback_origins TO marketplace_service;

GRANT UPDATE(held_since) ON TABLE public.callback_origins TO marketplace_service;

GRANT UPDATE(probes) ON TABLE public.callback_origins TO marketplace_service;

GRANT UPDATE(probed_id) ON TABLE public.callback_origins TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.carried_over TO marketplace_service;

GRANT SELECT ON TABLE public.categories TO marketplace_service;

GRANT SELECT ON TABLE public.category_counts TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.cds_discoveries TO marketplace_service;

GRANT UPDATE(url) ON TABLE public.cds_discoveries TO marketplace_service;

GRANT UPDATE(requested_at) ON TABLE public.cds_discoveries TO marketplace_service;

GRANT UPDATE(hooks) ON TABLE public.cds_discoveries TO marketplace_service;

GRANT UPDATE(failure) ON TABLE public.cds_discoveries TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.closed_commissions TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.closed_lines TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.closed_totals TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.connections TO marketplace_service;

GRANT UPDATE(status) ON TABLE public.connections TO marketplace_service;

GRANT UPDATE(client_id) ON TABLE public.connections TO marketplace_service;

GRANT UPDATE(fhir_base_url) ON TABLE public.connections TO marketplace_service;

GRANT UPDATE(reason) ON TABLE public.connections TO marketplace_service;

GRANT UPDATE(updated_at) ON TABLE public.connections TO marketplace_service;

GRANT UPDATE(changed_at) ON TABLE public.connections TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.credits TO marketplace_service;

GRANT SELECT ON TABLE public.deleted_drafts TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.deliveries TO marketplace_service;

GRANT UPDATE(status) ON TABLE public.deliveries TO marketplace_service;

GRANT UPDATE(attempts) ON TABLE public.deliveries TO marketplace_service;

GRANT UPDATE(failures) ON TABLE public.deliveries TO marketplace_service;

GRANT UPDATE(next_attempt_at) ON TABLE public.deliveries TO marketplace_service;

GRANT UPDATE(settled_at) ON TABLE public.deliveries TO marketplace_service;

GRANT UPDATE(restarted_at) ON TABLE public.deliveries TO marketplace_service;

GRANT UPDATE(worker_id) ON TABLE public.deliveries TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.delivery_attempts TO marketplace_service;

GRANT UPDATE(duration_ms) ON TABLE public.delivery_attempts TO marketplace_service;

GRANT UPDATE(outcome) ON TABLE public.delivery_attempts TO marketplace_service;

GRANT UPDATE(status_code) ON TABLE public.delivery_attempts TO marketplace_service;

GRANT UPDATE(error) ON TABLE public.delivery_attempts TO marketplace_service;

GRANT UPDATE(response_snippet) ON TABLE public.delivery_attempts TO marketplace_service;

GRANT UPDATE(next_attempt_at) ON TABLE public.delivery_attempts TO marketplace_service;

GRANT SELECT ON TABLE public.delivery_log_retention TO marketplace_service;

GRANT SELECT,DELETE ON TABLE public.delivery_workers TO marketplace_service;

GRANT INSERT(host) ON TABLE public.delivery_workers TO marketplace_service;

GRANT UPDATE(heartbeat_at) ON TABLE public.delivery_workers TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.draft_editors TO marketplace_service;

GRANT UPDATE(version) ON TABLE public.draft_editors TO marketplace_service;

GRANT SELECT ON TABLE public.ended_commissions TO marketplace_service;

GRANT SELECT ON TABLE public.ended_pauses TO marketplace_service;

GRANT SELECT ON TABLE public.ended_terms TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.events TO marketplace_service;

GRANT SELECT ON TABLE public.extension_points TO marketplace_service;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotent_responses TO marketplace_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.late_usage TO marketplace_service;

GRANT UPDATE(reported_at) ON TABLE public.late_usage TO marketplace_service;

GRANT SELECT ON TABLE public.listings TO marketplace_service;

GRANT INSERT(app_id) ON TABLE public.listings TO marketplace_service;

GRANT INSERT(slug) ON TABLE public.listings TO marketplace_service;

GRANT INSERT(vendor_id) ON TABLE public.listings TO marketplace_service;

GRANT INSERT(draft),UPDATE(draft) ON TABLE public.listings TO marketplace_service;

GRANT INSERT(encrypted_review_notes),UPDATE(encrypted_review_notes) ON TABLE public.listings TO marketplace_service;

GRANT INSERT(version),UPDATE(version) ON TABLE public.listings TO marketplace_service;

GRANT INSERT(created_at) ON TABLE public.listings TO marketplace_service;

GRANT INSERT(updated_at),UPDATE(updated_at) ON TABLE public.listings TO marketplace_service;

GRANT UPDATE(unpublished_at) ON TABLE public.listings TO marketplace_service;

GRANT UPDATE(suspended_at) ON TABLE public.listings TO marketplace_service;

GRANT UPDATE(suspension_reason) ON TABLE public.listings TO marketplace_service;

GRANT UPDATE(republished_at) ON TABLE public.listings TO marketplace_service;

GRANT UPDATE(sandbox_launched_at) ON TABLE public.listings TO marketplace_service;

GRANT SELECT,DELETE ON TABLE public.media TO marketplace_service;

GRANT INSERT(id) ON TABLE public.media TO marketplace_service;

GRANT INSERT(vendor_id) ON TABLE public.media TO marketplace_service;

GRANT INSERT(app_id) ON TABLE public.media TO marketplace_service;

GRANT INSERT(kind) ON TABLE public.media TO marketplace_service;

GRANT INSERT(object_key) ON TABLE public.media TO marketplace_service;

GRANT INSERT(sha256) ON TABLE public.media TO marketplace_service;

GRANT INSERT(content_type) ON TABLE public.media TO marketplace_service;

GRANT INSERT(bytes) ON TABLE public.media TO marketplace_service;

GRANT INSERT(width) ON TABLE public.media TO marketplace_service;

GRANT INSERT(height) ON TABLE public.media TO marketplace_service;

GRANT INSERT(created_at) ON TABLE public.media TO marketplace_service;

GRANT INSERT(stored_at),UPDATE(stored_at) ON TABLE public.media TO marketplace_service;

GRANT INSERT(unused_since),UPDATE(unused_since) ON TABLE public.media TO marketplace_service;

GRANT UPDATE(deleting_at) ON TABLE public.media TO marketplace_service;

GRANT INSERT(source_sha256) ON TABLE public.media TO marketplace_service;

GRANT UPDATE(purged_at) ON TABLE public.media TO marketplace_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.notice_mails TO marketplace_service;

GRANT UPDATE(due_at) ON TABLE public.notice_mails TO marketplace_service;

GRANT UPDATE(attempts) ON TABLE public.notice_mails TO marketplace_service;

GRANT UPDATE(outcome) ON TABLE public.notice_mails TO marketplace_service;

GRANT UPDATE(settled_at) ON TABLE public.notice_mails TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.notice_settings TO marketplace_service;

GRANT UPDATE(email) ON TABLE public.notice_settings TO marketplace_service;

GRANT UPDATE(muted_kinds) ON TABLE public.notice_settings TO marketplace_service;

GRANT UPDATE(updated_at) ON TABLE public.notice_settings TO marketplace_service;

GRANT UPDATE(confirmed_email) ON TABLE public.notice_settings TO marketplace_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.notices TO marketplace_service;

GRANT UPDATE(read_at) ON TABLE public.notices TO marketplace_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.open_commissions TO marketplace_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.open_lines TO marketplace_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.open_totals TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.organisations TO marketplace_service;

GRANT UPDATE(display_name) ON TABLE public.organisations TO marketplace_service;

GRANT UPDATE(callback_url) ON TABLE public.organisations TO marketplace_service;

GRANT UPDATE(callback_networks) ON TABLE public.organisations TO marketplace_service;

GRANT UPDATE(encrypted_secret) ON TABLE public.organisations TO marketplace_service;

GRANT UPDATE(updated_at) ON TABLE public.organisations TO marketplace_service;

GRANT UPDATE(time_zone) ON TABLE public.organisations TO marketplace_service;

GRANT SELECT(id) ON TABLE public.pricing_plans TO marketplace_service;

GRANT SELECT(app_id) ON TABLE public.pricing_plans TO marketplace_service;

GRANT SELECT(pricing_model) ON TABLE public.pricing_plans TO marketplace_service;

GRANT SELECT(trial_days) ON TABLE public.pricing_plans TO marketplace_service;

GRANT SELECT(published_at) ON TABLE public.pricing_plans TO marketplace_service;

GRANT SELECT(retired_at) ON TABLE public.pricing_plans TO marketplace_service;

GRANT SELECT ON TABLE public.plan_records TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.vendors TO marketplace_service;

GRANT SELECT(id) ON TABLE public.vendors TO marketplace_service;

GRANT SELECT(slug) ON TABLE public.vendors TO marketplace_service;

GRANT UPDATE(name) ON TABLE public.vendors TO marketplace_service;

GRANT UPDATE(website_url) ON TABLE public.vendors TO marketplace_service;

GRANT UPDATE(updated_at) ON TABLE public.vendors TO marketplace_service;

GRANT UPDATE(support_email) ON TABLE public.vendors TO marketplace_service;

GRANT UPDATE(security_contact) ON TABLE public.vendors TO marketplace_service;

GRANT UPDATE(commission_percent) ON TABLE public.vendors TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.reached_limits TO marketplace_service;

GRANT UPDATE(month) ON TABLE public.reached_limits TO marketplace_service;

GRANT UPDATE(least_amount) ON TABLE public.reached_limits TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.recipients TO marketplace_service;

GRANT UPDATE(status) ON TABLE public.recipients TO marketplace_service;

GRANT UPDATE(crowded) ON TABLE public.recipients TO marketplace_service;

GRANT UPDATE(consecutive_failures) ON TABLE public.recipients TO marketplace_service;

GRANT UPDATE(held_since) ON TABLE public.recipients TO marketplace_service;

GRANT UPDATE(probes) ON TABLE public.recipients TO marketplace_service;

GRANT UPDATE(probed_id) ON TABLE public.recipients TO marketplace_service;

GRANT UPDATE(disabled_at) ON TABLE public.recipients TO marketplace_service;

GRANT UPDATE(disabled_reason) ON TABLE public.recipients TO marketplace_service;

GRANT SELECT ON TABLE public.recipient_states TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.replays TO marketplace_service;

GRANT UPDATE(status) ON TABLE public.replays TO marketplace_service;

GRANT UPDATE(done) ON TABLE public.replays TO marketplace_service;

GRANT UPDATE(cursor_at) ON TABLE public.replays TO marketplace_service;

GRANT UPDATE(cursor_id) ON TABLE public.replays TO marketplace_service;

GRANT UPDATE(updated_at) ON TABLE public.replays TO marketplace_service;

GRANT SELECT ON TABLE public.reviews TO marketplace_service;

GRANT INSERT(id) ON TABLE public.reviews TO marketplace_service;

GRANT INSERT(app_id) ON TABLE public.reviews TO marketplace_service;

GRANT INSERT(number) ON TABLE public.reviews TO marketplace_service;

GRANT INSERT(vendor_id) ON TABLE public.reviews TO marketplace_service;

GRANT INSERT(submitted_at) ON TABLE public.reviews TO marketplace_service;

GRANT INSERT(due_at) ON TABLE public.reviews TO marketplace_service;

GRANT UPDATE(decision) ON TABLE public.reviews TO marketplace_service;

GRANT UPDATE(decided_at) ON TABLE public.reviews TO marketplace_service;

GRANT UPDATE(replaced_number) ON TABLE public.reviews TO marketplace_service;

GRANT UPDATE(reasons) ON TABLE public.reviews TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.revision_editors TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.revision_media TO marketplace_service;

GRANT SELECT ON TABLE public.revisions TO marketplace_service;

GRANT INSERT(id) ON TABLE public.revisions TO marketplace_service;

GRANT INSERT(app_id) ON TABLE public.revisions TO marketplace_service;

GRANT INSERT(number) ON TABLE public.revisions TO marketplace_service;

GRANT INSERT(name) ON TABLE public.revisions TO marketplace_service;

GRANT INSERT(version) ON TABLE public.revisions TO marketplace_service;

GRANT INSERT(draft) ON TABLE public.revisions TO marketplace_service;

GRANT INSERT(encrypted_review_notes),UPDATE(encrypted_review_notes) ON TABLE public.revisions TO marketplace_service;

GRANT INSERT(listing_version) ON TABLE public.revisions TO marketplace_service;

GRANT INSERT(submitted_at) ON TABLE public.revisions TO marketplace_service;

GRANT SELECT ON TABLE public.sandbox_apps TO marketplace_service;

GRANT SELECT ON TABLE public.sandbox_clients TO marketplace_service;

GRANT SELECT ON TABLE public.schema_migrations TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.scope_agreements TO marketplace_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.scope_notice_walks TO marketplace_service;

GRANT UPDATE(revision) ON TABLE public.scope_notice_walks TO marketplace_service;

GRANT UPDATE(published_at) ON TABLE public.scope_notice_walks TO marketplace_service;

GRANT UPDATE(cursor_at) ON TABLE public.scope_notice_walks TO marketplace_service;

GRANT UPDATE(cursor_id) ON TABLE public.scope_notice_walks TO marketplace_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.search_synonyms TO marketplace_service;

GRANT SELECT ON TABLE public.search_words TO marketplace_service;

GRANT UPDATE(apps) ON TABLE public.search_words TO marketplace_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.spend_limits TO marketplace_service;

GRANT UPDATE(amount) ON TABLE public.spend_limits TO marketplace_service;

GRANT UPDATE(on_reached) ON TABLE public.spend_limits TO marketplace_service;

GRANT UPDATE(actor_issuer) ON TABLE public.spend_limits TO marketplace_service;

GRANT UPDATE(actor_subject) ON TABLE public.spend_limits TO marketplace_service;

GRANT UPDATE(actor_role) ON TABLE public.spend_limits TO marketplace_service;

GRANT UPDATE(request_id) ON TABLE public.spend_limits TO marketplace_service;

GRANT UPDATE(updated_at) ON TABLE public.spend_limits TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.statement_months TO marketplace_service;

GRANT UPDATE(status) ON TABLE public.statement_months TO marketplace_service;

GRANT UPDATE(phase) ON TABLE public.statement_months TO marketplace_service;

GRANT UPDATE(cursor) ON TABLE public.statement_months TO marketplace_service;

GRANT UPDATE(started_at) ON TABLE public.statement_months TO marketplace_service;

GRANT UPDATE(done) ON TABLE public.statement_months TO marketplace_service;

GRANT UPDATE(as_of) ON TABLE public.statement_months TO marketplace_service;

GRANT UPDATE(closed_at) ON TABLE public.statement_months TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(pricing_plan_id) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(quantity) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(status) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(pause_reason) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(block_reason) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(trial_ends_at) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(updated_at) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(paused_at) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(cancelled_at) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(revision) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(fhir_scopes) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(suspension_id) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(sandbox_revision) ON TABLE public.subscriptions TO marketplace_service;

GRANT UPDATE(interval_amount) ON TABLE public.subscriptions TO marketplace_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.suspension_notice_walks TO marketplace_service;

GRANT UPDATE(suspended_at) ON TABLE public.suspension_notice_walks TO marketplace_service;

GRANT UPDATE(cursor_at) ON TABLE public.suspension_notice_walks TO marketplace_service;

GRANT UPDATE(cursor_id) ON TABLE public.suspension_notice_walks TO marketplace_service;

GRANT SELECT ON TABLE public.suspensions TO marketplace_service;

GRANT INSERT(id) ON TABLE public.suspensions TO marketplace_service;

GRANT INSERT(app_id) ON TABLE public.suspensions TO marketplace_service;

GRANT UPDATE(state) ON TABLE public.suspensions TO marketplace_service;

GRANT INSERT(reason),UPDATE(reason) ON TABLE public.suspensions TO marketplace_service;

GRANT INSERT(started_at),UPDATE(started_at) ON TABLE public.suspensions TO marketplace_service;

GRANT INSERT(actor_issuer),UPDATE(actor_issuer) ON TABLE public.suspensions TO marketplace_service;

GRANT INSERT(actor_subject),UPDATE(actor_subject) ON TABLE public.suspensions TO marketplace_service;

GRANT INSERT(request_id),UPDATE(request_id) ON TABLE public.suspensions TO marketplace_service;

GRANT UPDATE(counted_at) ON TABLE public.suspensions TO marketplace_service;

GRANT UPDATE(is_last_pass) ON TABLE public.suspensions TO marketplace_service;

GRANT UPDATE(cursor_at) ON TABLE public.suspensions TO marketplace_service;

GRANT UPDATE(cursor_id) ON TABLE public.suspensions TO marketplace_service;

GRANT UPDATE(found) ON TABLE public.suspensions TO marketplace_service;

GRANT UPDATE(paused) ON TABLE public.suspensions TO marketplace_service;

GRANT UPDATE(resumed) ON TABLE public.suspensions TO marketplace_service;

GRANT INSERT(updated_at),UPDATE(updated_at) ON TABLE public.suspensions TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.undone_increases TO marketplace_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.unstored_uploads TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.usage_days TO marketplace_service;

GRANT UPDATE(quantity) ON TABLE public.usage_days TO marketplace_service;

GRANT UPDATE(record_count) ON TABLE public.usage_days TO marketplace_service;

GRANT UPDATE(latest_at) ON TABLE public.usage_days TO marketplace_service;

GRANT UPDATE(latest_id) ON TABLE public.usage_days TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.usage_hours TO marketplace_service;

GRANT UPDATE(quantity) ON TABLE public.usage_hours TO marketplace_service;

GRANT UPDATE(record_count) ON TABLE public.usage_hours TO marketplace_service;

GRANT UPDATE(latest_at) ON TABLE public.usage_hours TO marketplace_service;

GRANT UPDATE(latest_id) ON TABLE public.usage_hours TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.usage_records TO marketplace_service;

GRANT UPDATE(voided) ON TABLE public.usage_records TO marketplace_service;

GRANT UPDATE(voided_at) ON TABLE public.usage_records TO marketplace_service;

GRANT UPDATE(void_request_id) ON TABLE public.usage_records TO marketplace_service;

GRANT UPDATE(void_issuer) ON TABLE public.usage_records TO marketplace_service;

GRANT UPDATE(void_subject) ON TABLE public.usage_records TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.usage_reporters TO marketplace_service;

GRANT UPDATE(reported_at) ON TABLE public.usage_reporters TO marketplace_service;

GRANT UPDATE(second) ON TABLE public.usage_reporters TO marketplace_service;

GRANT UPDATE(batches) ON TABLE public.usage_reporters TO marketplace_service;

GRANT UPDATE(day) ON TABLE public.usage_reporters TO marketplace_service;

GRANT UPDATE(records) ON TABLE public.usage_reporters TO marketplace_service;

GRANT SELECT ON TABLE public.used_media TO marketplace_service;

GRANT SELECT,INSERT ON TABLE public.webhook_endpoints TO marketplace_service;

GRANT UPDATE(url) ON TABLE public.webhook_endpoints TO marketplace_service;

GRANT UPDATE(events) ON TABLE public.webhook_endpoints TO marketplace_service;

GRANT UPDATE(encrypted_secret) ON TABLE public.webhook_endpoints TO marketplace_service;

GRANT UPDATE(encrypted_next_secret) ON TABLE public.webhook_endpoints TO marketplace_service;

GRANT UPDATE(promote_at) ON TABLE public.webhook_endpoints TO marketplace_service;

GRANT UPDATE(updated_at) ON TABLE public.webhook_endpoints TO marketplace_service;

GRANT UPDATE(deleted_at) ON TABLE public.webhook_endpoints TO marketplace_service;

GRANT UPDATE(recent_tests) ON TABLE public.webhook_endpoints TO marketplace_service;

