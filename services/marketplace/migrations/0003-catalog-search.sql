-- Search, in the database: one round trip, and one generic plan whatever is asked, so that no query string can talk
-- the planner into a slow one. Each step is bounded: words typed, words they may mean, candidates ranked.

-- The words of the catalog that somebody may mean: the word itself, what it begins, or else what it resembles.
create function meant_words(typed text, unfinished boolean) returns text[] language plpgsql stable as $$
declare
  meant text[];
begin
  select array_agg(known.word) into meant from (
    (select word from search_words where word = typed)
    union
    (
      select word from search_words
      where unfinished and word >= typed and word < typed || chr(1114111)
      order by apps desc, word limit 12
    )
  ) known;
  if meant is null then
    select array_agg(known.word) into meant from (
      select word from search_words where word % typed order by similarity(word, typed) desc, apps desc, word limit 4
    ) known;
  end if;
  return meant;
end
$$;

-- Any of the words, as written and as stemmed: a description is indexed by stems only.
create function any_of(words text[]) returns tsquery language sql stable return (
  select string_agg(distinct quote_literal(form), ' | ')::tsquery
  from unnest(words) as word, unnest(array[word, (ts_lexize('english_stem', word))[1]]) as form
  where form is not null
);

create function is_stop_word(word text) returns boolean language sql stable return ts_lexize('english_stem', word) = '{}';

create function matching_listings(
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
    select app_id, listing.popularity, listing.app_dto,
      round((
        case when searched.name = needle then 8 when starts_with(searched.name, needle) then 3 else 0 end
        + 4 * ts_rank(searched.words, typed)
        + ts_rank(searched.words, meant)
        + similarity(searched.name, needle)
      )::numeric, 1) as relevance
    from candidate join app_search searched using (app_id) join app_listings listing using (app_id)
  )
  select app_dto from ranked order by relevance desc, popularity desc, app_id limit most;
end
$$;

create function search_listings(given text, in_category text, most integer)
returns setof text language plpgsql stable as $$
declare
  needle text := search_text(given);
  typed text[] := (string_to_array(needle, ' '))[1:8];
  only_stop_words boolean := not exists (select from unnest(typed) as word where not is_stop_word(word));
  word text;
  term tsquery;
  all_terms tsquery;
  any_term tsquery;
begin
  if in_category is not null and not exists (select from categories where category = in_category) then
    return;
  end if;
  for place in 1 .. coalesce(array_length(typed, 1), 0) loop
    word := typed[place];
    continue when is_stop_word(word) and not only_stop_words;
    term := any_of(meant_words(word, place = array_length(typed, 1)));
    continue when term is null;
    all_terms := case when all_terms is null then term else all_terms && term end;
    any_term := case when any_term is null then term else any_term || term end;
  end loop;
  if all_terms is null then
    return;
  end if;
  return query select * from matching_listings(needle, any_of(typed), all_terms, in_category, most);
  if not found then
    return query select * from matching_listings(needle, any_of(typed), any_term, in_category, most);
  end if;
end
$$;

grant select on categories, category_counts, app_listings, app_search, search_words to marketplace_service;
revoke execute on function refresh_listings(uuid[]), rerank_catalog() from public;
