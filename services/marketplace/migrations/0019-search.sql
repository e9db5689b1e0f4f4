-- Search by concepts: the words and phrases of a query with what else they are called. search/interpret-query.ts decides what a query
-- means; this schema knows the words of the catalog, the synonyms of the field, and ranks apps.

create extension if not exists fuzzystrmatch;

-- Without stop words, so that a phrase such as "no show" or "follow up" is found as one.
create text search dictionary catalog_stem (template = snowball, language = english);
create text search configuration catalog_search (copy = english);
alter text search configuration catalog_search
  alter mapping for
    asciiword, asciihword, hword_asciipart, word, hword, hword_part, numword, numhword, hword_numpart
  with public.unaccent, catalog_stem;

create function search_stem(word text) returns text language sql immutable parallel safe return
  coalesce((ts_lexize('public.catalog_stem', word))[1], word);

-- A normalised phrase in a form that can be compared: "no shows" and "no show" have the same key.
create function search_key(phrase text) returns text language sql immutable parallel safe return (
  select string_agg(public.search_stem(word), ' ' order by nth)
  from unnest(string_to_array(phrase, ' ')) with ordinality as each (word, nth)
);

drop function search_listings(text, text, integer);
drop function matching_listings(text, tsquery, tsquery, text, integer);
drop function expand_search_word(text, boolean);
drop view published_apps;

create or replace function word_vector(given text, weight "char") returns tsvector
  language sql immutable parallel safe return
  setweight(to_tsvector('public.catalog_search', public.search_text(given)), weight);

alter table app_search drop column name_words;
-- Name, summary, vendor and category: what an app is about. A description mentions much else.
alter table app_search add column head_words tsvector not null default '';
alter table app_search alter column head_words drop default;
create index app_search_head_words_0 on app_search using gin (head_words) with (fastupdate = off) where tier = 0;
create index app_search_head_words_1 on app_search using gin (head_words) with (fastupdate = off) where tier = 1;
create index app_search_head_words_2 on app_search using gin (head_words) with (fastupdate = off) where tier = 2;
create index app_search_head_words_3 on app_search using gin (head_words) with (fastupdate = off) where tier = 3;
create index app_search_head_words_4 on app_search using gin (head_words) with (fastupdate = off) where tier = 4;
create index app_search_similar_name on app_search using gin (name gin_trgm_ops) with (fastupdate = off);

alter table search_words
  add column stem text collate "C" generated always as (search_stem(word)) stored,
  -- Part of a term that has synonyms: known, even if no app uses it.
  add column in_synonyms boolean not null default false;
create index search_words_stem on search_words (stem) include (apps, in_synonyms);

create view published_apps as
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

create or replace function refresh_listings(changed uuid[]) returns void language plpgsql as $$
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

-- A word of the dictionary as it is indexed.
create or replace function any_of(words text[]) returns tsquery language sql stable return (
  select string_agg(distinct quote_literal(public.search_stem(word)), ' | ')::tsquery from unnest(words) as word
);

create or replace function delete_unused_search_words(given text[]) returns integer
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set enable_seqscan = off as $$
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

-- The groups of synonyms as operators edit them. Without a term, all terms of the group mean the same; with one, it also means the others.
create table search_synonyms (
  position integer primary key check (position between 1 and 3000),
  term text check (length(term) <= 80),
  synonyms text[] not null check (cardinality(synonyms) between 1 and 40 and length(array_to_string(synonyms, '')) <= 3200)
);
-- The same, normalised. An input stands for the meanings of its group.
create table search_terms (
  position integer not null references search_synonyms on delete cascade,
  key text collate "C" not null,
  phrase text collate "C" not null,
  is_input boolean not null,
  is_meaning boolean not null,
  primary key (key, position)
);
create index search_terms_by_position on search_terms (position);
create index search_terms_inputs on search_terms (phrase) where is_input;

create function refresh_search_terms() returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
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
revoke execute on function refresh_search_terms() from public;
grant execute on function refresh_search_terms() to marketplace_service;
grant select, insert, delete on search_synonyms to marketplace_service;
grant select on search_terms to marketplace_service;

-- What else a phrase is called, and what people who say it look for, too.
create function search_meanings(given_key text, out means text[], out related text[]) language sql stable
  begin atomic
    select
      coalesce(array_agg(distinct phrase) filter (where is_input), '{}'),
      coalesce(array_agg(distinct phrase) filter (where not is_input), '{}')
    from (
      select meaning.phrase, meaning.is_input
      from search_terms input
      join search_terms meaning using (position)
      where input.key = given_key and input.is_input and meaning.is_meaning and meaning.key <> given_key
      limit 200
    ) meanings;
  end;

-- Ranks the apps that have what the concepts of a query mean. Concept i is in alternatives[j] where concepts[j] = i, and counts
-- weights[i]; an alternative counts by its factor, and by the field in which it is. One generic plan for every query; the
-- numbers of candidates and of alternatives are bounded.
create function rank_apps(
  needle text, in_category text, concepts integer[], alternatives text[], loose boolean[], factors real[],
  weights real[]
) returns table (app_id uuid, relevance real)
  language plpgsql stable set plan_cache_mode = force_generic_plan as $$
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

-- For processes of the previous version, until they are replaced.
create function search_listings(given text, in_category text, max_results integer) returns setof text
  language sql stable as $$
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

select refresh_listings(array(select app_id from app_listings));
