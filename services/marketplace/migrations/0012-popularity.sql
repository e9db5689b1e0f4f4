-- Popularity changes hourly, and a listing is a wide row with eleven indexes: popularity gets a narrow table of its own.
create table app_popularity (
  app_id uuid primary key references app_listings on delete cascade,
  category text not null,
  featured boolean not null,
  -- Live subscriptions, as the worker counted them last
  popularity integer not null default 0 check (popularity >= 0)
);
insert into app_popularity (app_id, category, featured, popularity)
select app_id, category, featured, popularity from app_listings;
create index app_popularity_popularity on app_popularity (popularity, app_id);
create index app_popularity_category_popularity on app_popularity (category, popularity, app_id);
create index app_popularity_featured on app_popularity (popularity, app_id) where featured;

-- API processes of the release before still read it. It is dropped with its indexes in the next release.
comment on column app_listings.popularity is 'Neither read nor written any more: app_popularity has it';

-- The apps above the last tier, without reading their words.
create index app_search_popular on app_search (app_id, tier) where tier < 4;

-- The worker ranks. The service still can't change the catalog itself.
grant select, update (popularity) on app_popularity to marketplace_service;
grant update (tier) on app_search to marketplace_service;
grant update (apps) on search_words to marketplace_service;

-- Deletes those of the words that no app has. It excludes writers of the catalog: one that publishes an app with such a word
-- would find the word present, and it would be deleted right after. Sequential scans are off: each word is a few index lookups.
create function delete_unused_search_words(given text[]) returns integer
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set enable_seqscan = off as $$
declare
  deleted integer;
begin
  perform pg_advisory_xact_lock(hashtext('catalog'));
  delete from search_words known
  where known.word = any (given)
    and not exists (select from app_search where tier = 0 and words @@ any_of(array[known.word]))
    and not exists (select from app_search where tier = 1 and words @@ any_of(array[known.word]))
    and not exists (select from app_search where tier = 2 and words @@ any_of(array[known.word]))
    and not exists (select from app_search where tier = 3 and words @@ any_of(array[known.word]))
    and not exists (select from app_search where tier = 4 and words @@ any_of(array[known.word]));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
revoke execute on function delete_unused_search_words(text[]) from public;
grant execute on function delete_unused_search_words(text[]) to marketplace_service;

-- It blocked writers of the catalog for seconds. The worker now does the same hourly, in batches.
drop function rerank_catalog();

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

create or replace function matching_listings(
  needle text, typed tsquery, meant tsquery, in_category text, most integer
) returns setof text language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  wanted tsquery := case when in_category is null then meant else meant && quote_literal('#' || in_category)::tsquery end;
begin
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
      select app_id from app_search where tier = 0 and name_words @@ wanted
      union all
      select app_id from app_search where tier = 1 and name_words @@ wanted
      union all
      select app_id from app_search where tier = 2 and name_words @@ wanted
      union all
      select app_id from app_search where tier = 3 and name_words @@ wanted
      union all
      select app_id from app_search where tier = 4 and name_words @@ wanted
      limit 100
    )
    union
    (
      select app_id from app_search where tier = 0 and words @@ wanted
      union all
      select app_id from app_search where tier = 1 and words @@ wanted
      union all
      select app_id from app_search where tier = 2 and words @@ wanted
      union all
      select app_id from app_search where tier = 3 and words @@ wanted
      union all
      select app_id from app_search where tier = 4 and words @@ wanted
      limit 100
    )
  ),
  ranked as (
    select app_id, popular.popularity,
      round((
        case when searched.name = needle then 8 when starts_with(searched.name, needle) then 3 else 0 end
        + 4 * ts_rank(searched.words, typed)
        + ts_rank(searched.words, meant)
        + similarity(searched.name, needle)
      )::numeric, 1) as relevance
    from candidate join app_search searched using (app_id) join app_popularity popular using (app_id)
  ),
  best as (
    select * from ranked order by relevance desc, popularity desc, app_id limit most
  )
  select listing.app_dto from best join app_listings listing using (app_id)
  order by best.relevance desc, best.popularity desc, app_id;
end
$$;
