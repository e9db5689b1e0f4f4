-- What anyone may browse: one row per published app, holding its answer ready to be sent. An app that isn't published
-- has no row, so no query can forget to leave it out. Triggers keep the rows true in the transaction of each change.
-- What search looks through is a table of its own: popularity changes hourly, and would drag the words' indexes along.

create extension if not exists pg_trgm;
create extension if not exists unaccent;

create collation case_insensitive (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

create table app_listings (
  app_id uuid primary key references apps on delete cascade,
  slug text not null unique,
  category text not null references categories,
  name text collate case_insensitive not null,
  featured boolean not null,
  published_at timestamptz not null,
  updated_at timestamptz not null,
  popularity integer not null default 0,
  app_dto text not null,
  pricing_dto text not null
);
-- Read whole and often: worth its place uncompressed, and out of the way of everything else.
alter table app_listings alter column app_dto set storage external;
alter table app_listings alter column pricing_dto set storage external;

create index app_listings_name on app_listings (name, app_id);
create index app_listings_category on app_listings (category, app_id);
create index app_listings_published_at on app_listings (published_at, app_id);
create index app_listings_updated_at on app_listings (updated_at, app_id);
create index app_listings_popularity on app_listings (popularity, app_id);
create index app_listings_category_name on app_listings (category, name, app_id);
create index app_listings_category_published_at on app_listings (category, published_at, app_id);
create index app_listings_category_updated_at on app_listings (category, updated_at, app_id);
create index app_listings_category_popularity on app_listings (category, popularity, app_id);
create index app_listings_featured on app_listings (popularity, app_id) where featured;

create table app_search (
  app_id uuid primary key references app_listings on delete cascade,
  category text not null,
  -- The most popular apps are in tier 0; search looks there first and goes on only while it has found too few.
  tier smallint not null default 4 check (tier between 0 and 4),
  name text collate "C" not null,
  name_words tsvector not null,
  words tsvector not null
);
alter table app_search alter column words set storage main;

create index app_search_name on app_search (name) include (app_id, category);
create index app_search_words_0 on app_search using gin (words) with (fastupdate = off) where tier = 0;
create index app_search_words_1 on app_search using gin (words) with (fastupdate = off) where tier = 1;
create index app_search_words_2 on app_search using gin (words) with (fastupdate = off) where tier = 2;
create index app_search_words_3 on app_search using gin (words) with (fastupdate = off) where tier = 3;
create index app_search_words_4 on app_search using gin (words) with (fastupdate = off) where tier = 4;
create index app_search_name_words_0 on app_search using gin (name_words) with (fastupdate = off) where tier = 0;
create index app_search_name_words_1 on app_search using gin (name_words) with (fastupdate = off) where tier = 1;
create index app_search_name_words_2 on app_search using gin (name_words) with (fastupdate = off) where tier = 2;
create index app_search_name_words_3 on app_search using gin (name_words) with (fastupdate = off) where tier = 3;
create index app_search_name_words_4 on app_search using gin (name_words) with (fastupdate = off) where tier = 4;

-- Counting 100,000 rows for every page would cost more than the page.
create table category_counts (
  category text primary key references categories on delete cascade,
  apps integer not null check (apps >= 0)
);
insert into category_counts select category, 0 from categories;

-- Every word of the catalog, to complete what is typed and to mend what is mistyped.
create table search_words (
  word text collate "C",
  apps integer not null,
  primary key (word) include (apps)
);
create index search_words_similar on search_words using gin (word gin_trgm_ops) with (fastupdate = off);

-- The same for what is searched in and for what is searched: letters and digits, lower case, without accents.
create function search_text(given text) returns text language sql immutable parallel safe return
  btrim(regexp_replace(
    lower(public.unaccent('public.unaccent', given) collate "und-x-icu"), '[^[:alnum:]]+', ' ', 'g'
  ));

create function word_vector(given text, weight "char") returns tsvector language sql immutable parallel safe return
  setweight(to_tsvector('simple', search_text(given)) || to_tsvector('english', search_text(given)), weight);

-- No word of a text holds a number sign: so marked, the category filters inside the index of words.
create function category_mark(category text) returns tsvector language sql immutable parallel safe return
  array_to_tsvector(array['#' || category]);

create function wire_instant(given timestamptz) returns text language sql immutable parallel safe return
  to_char(given at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- Whole minor units are a number; a rate below one minor unit is a decimal string.
create function wire_amount(given numeric) returns json language sql immutable parallel safe return
  case when given = trunc(given) then to_json(given::bigint) else to_json(trim_scale(given)::text) end;

create view plans_on_sale as
select
  plan.id,
  plan.app_id,
  plan.position,
  plan.pricing_model,
  plan.currency,
  plan.amount,
  plan.interval,
  row_to_json(wire)::text as dto
from pricing_plans plan
cross join lateral (
  select
    plan.id,
    plan.name,
    plan.description,
    plan.pricing_model as "pricingModel",
    plan.currency,
    wire_amount(plan.amount) as amount,
    plan.interval,
    plan.trial_days as "trialDays",
    plan.unit_name as "unitName",
    plan.included_units as "includedUnits",
    plan.tiers,
    plan.tier_mode as "tierMode",
    plan.metric,
    plan.aggregation,
    plan.features
) wire
where plan.published_at is not null and plan.retired_at is null;

create view starting_prices as
select distinct on (plan.app_id)
  plan.app_id,
  row_to_json(wire) as price
from plans_on_sale plan
cross join lateral (select wire_amount(plan.amount) as amount, plan.currency, plan.interval) wire
where plan.pricing_model in ('FREE', 'FLAT', 'PER_UNIT')
order by plan.app_id, case plan.interval when 'YEAR' then plan.amount / 12 else plan.amount end, plan.position, plan.id;

create view published_apps as
select
  app.id as app_id,
  app.slug,
  app.category,
  app.name,
  app.featured,
  app.published_at,
  app.updated_at,
  search_text(app.name) as search_name,
  word_vector(app.name, 'A') || category_mark(app.category) as name_words,
  word_vector(app.name, 'A')
    || word_vector(app.summary, 'B')
    || word_vector(vendor.name || ' ' || category.name, 'C')
    || setweight(to_tsvector('english', search_text(app.description)), 'D')
    || category_mark(app.category) as words,
  search_text(app.name || ' ' || app.summary || ' ' || vendor.name || ' ' || category.name || ' ' || app.description)
    as text,
  row_to_json(wire)::text as app_dto,
  '[' || coalesce(
    (select string_agg(plan.dto, ',' order by plan.position, plan.id) from plans_on_sale plan where plan.app_id = app.id), ''
  ) || ']' as pricing_dto
from apps app
join vendors vendor on vendor.id = app.vendor_id
join categories category on category.category = app.category
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
    app.extension_points as "extensionPoints",
    app.smart_launch_url as "smartLaunchUrl",
    app.fhir_scopes as "fhirScopes",
    app.screenshots,
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
    wire_instant(app.published_at) as "publishedAt",
    wire_instant(app.updated_at) as "updatedAt"
) wire
where app.status = 'published';

-- Writers of the catalog are few and meet in the same counts and words. One after the other they can't deadlock, if each
-- waits before it holds any row: so every table's statements begin with this.
create function one_writer_at_a_time() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('catalog'));
  return null;
end
$$;
create trigger a_one_writer_at_a_time before insert or update or delete on vendors
  for each statement execute function one_writer_at_a_time();
create trigger a_one_writer_at_a_time before insert or update or delete on categories
  for each statement execute function one_writer_at_a_time();
create trigger a_one_writer_at_a_time before insert or update or delete on apps
  for each statement execute function one_writer_at_a_time();
create trigger a_one_writer_at_a_time before insert or update or delete on pricing_plans
  for each statement execute function one_writer_at_a_time();

create function refresh_listings(changed uuid[]) returns void language plpgsql as $$
declare
  removed integer;
  refreshed integer;
begin
  delete from app_listings listing
  where listing.app_id = any (changed)
    and not exists (select from apps where apps.id = listing.app_id and apps.status = 'published');
  get diagnostics removed = row_count;

  with fresh as materialized (
    select * from published_apps where app_id = any (changed)
  ),
  known_words as (
    insert into search_words (word, apps)
    select word, count(*) from fresh, unnest(string_to_array(fresh.text, ' ')) as word
    where length(word) between 2 and 40
    group by word
    on conflict do nothing
  ),
  searched as (
    insert into app_search (app_id, category, name, name_words, words)
    select app_id, category, search_name, name_words, words from fresh
    on conflict (app_id) do update set
      category = excluded.category, name = excluded.name, name_words = excluded.name_words, words = excluded.words
    where (app_search.words, app_search.name_words) is distinct from (excluded.words, excluded.name_words)
  )
  insert into app_listings (
    app_id, slug, category, name, featured, published_at, updated_at, app_dto, pricing_dto
  )
  select app_id, slug, category, name, featured, published_at, updated_at, app_dto, pricing_dto from fresh
  on conflict (app_id) do update set
    slug = excluded.slug, category = excluded.category, name = excluded.name, featured = excluded.featured,
    published_at = excluded.published_at, updated_at = excluded.updated_at, app_dto = excluded.app_dto,
    pricing_dto = excluded.pricing_dto;
  get diagnostics refreshed = row_count;

  if removed + refreshed > 0 then
    notify catalog_changed;
  end if;
end
$$;

create function refresh_changed_apps() returns trigger language plpgsql as $$
begin
  perform refresh_listings(array(select id from changed));
  return null;
end
$$;
create trigger refresh_inserted after insert on apps
  referencing new table as changed for each statement execute function refresh_changed_apps();
create trigger refresh_updated after update on apps
  referencing new table as changed for each statement execute function refresh_changed_apps();
create trigger refresh_deleted after delete on apps
  referencing old table as changed for each statement execute function refresh_changed_apps();

create function refresh_apps_of_changed_plans() returns trigger language plpgsql as $$
begin
  perform refresh_listings(array(select distinct app_id from changed));
  return null;
end
$$;
create trigger refresh_inserted after insert on pricing_plans
  referencing new table as changed for each statement execute function refresh_apps_of_changed_plans();
create trigger refresh_updated after update on pricing_plans
  referencing new table as changed for each statement execute function refresh_apps_of_changed_plans();
create trigger refresh_deleted after delete on pricing_plans
  referencing old table as changed for each statement execute function refresh_apps_of_changed_plans();

create function refresh_apps_of_changed_vendors() returns trigger language plpgsql as $$
begin
  perform refresh_listings(array(select apps.id from apps join changed on changed.id = apps.vendor_id));
  return null;
end
$$;
create trigger refresh_updated after update on vendors
  referencing new table as changed for each statement execute function refresh_apps_of_changed_vendors();

create function refresh_apps_of_changed_categories() returns trigger language plpgsql as $$
begin
  insert into category_counts select category, 0 from changed on conflict do nothing;
  perform refresh_listings(array(select apps.id from apps join changed on changed.category = apps.category));
  return null;
end
$$;
create trigger refresh_inserted after insert on categories
  referencing new table as changed for each statement execute function refresh_apps_of_changed_categories();
create trigger refresh_updated after update on categories
  referencing new table as changed for each statement execute function refresh_apps_of_changed_categories();

create function count_listings() returns trigger language plpgsql as $$
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
create trigger count_inserted after insert on app_listings
  referencing new table as after for each statement execute function count_listings();
create trigger count_updated after update on app_listings
  referencing old table as before new table as after for each statement execute function count_listings();
create trigger count_deleted after delete on app_listings
  referencing old table as before for each statement execute function count_listings();

-- Popularity moves slowly: which tier an app is in, and how common a word is, is worked out now and then.
create function rerank_catalog() returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('catalog'));

  update app_search searched set tier = ranked.tier
  from (
    select
      app_id,
      case
        when place <= 250 then 0
        when place <= 1250 then 1
        when place <= 5250 then 2
        when place <= 21250 then 3
        else 4
      end as tier
    from (select app_id, row_number() over (order by popularity desc, app_id) as place from app_listings) placed
  ) ranked
  where searched.app_id = ranked.app_id and searched.tier <> ranked.tier;

  with counted as materialized (
    select word, ndoc from ts_stat('select words from app_search')
  ),
  recounted as (
    select known.word, max(counted.ndoc) as apps
    from search_words known
    cross join lateral unnest(array[known.word, (ts_lexize('english_stem', known.word))[1]]) as form
    join counted on counted.word = form
    group by known.word
  ),
  forgotten as (
    delete from search_words known
    where not exists (select from recounted where recounted.word = known.word)
  )
  update search_words known set apps = recounted.apps
  from recounted
  where known.word = recounted.word and known.apps <> recounted.apps;
  notify catalog_changed;
end
$$;
