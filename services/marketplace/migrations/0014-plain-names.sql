-- Renames tables, columns, constraints, indexes, functions and triggers to standard terms. No row changes. Grants and settings
-- follow a rename. Processes of earlier versions use the old names: stop all of them before this migration.

alter table idempotent_answers rename to idempotent_responses;
alter table idempotent_responses rename column answer to response;
-- The time at which the request reserved its row, before there was a response.
alter table idempotent_responses rename column answered_at to created_at;
alter table idempotent_responses rename constraint idempotent_answers_pkey to idempotent_responses_pkey;
alter table idempotent_responses rename constraint idempotent_answers_request_check to idempotent_responses_request_check;
alter table idempotent_responses rename constraint idempotent_answers_body_digest_check to idempotent_responses_body_digest_check;
alter index idempotent_answers_by_age rename to idempotent_responses_by_age;

alter table organisations rename column sealed_secret to encrypted_secret;
alter table organisations rename constraint organisations_sealed_secret_check to organisations_encrypted_secret_check;

alter table webhook_endpoints rename column sealed_secret to encrypted_secret;
alter table webhook_endpoints rename column sealed_next_secret to encrypted_next_secret;
alter table webhook_endpoints rename constraint webhook_endpoints_sealed_secret_check to webhook_endpoints_encrypted_secret_check;
alter table webhook_endpoints
  rename constraint webhook_endpoints_sealed_next_secret_check to webhook_endpoints_encrypted_next_secret_check;
alter table webhook_endpoints rename constraint rotation_has_an_end to webhook_endpoints_next_secret_has_promote_at;

alter table recipients rename column failures_in_row to consecutive_failures;
alter table recipients rename column disabled_because to disabled_reason;
alter table recipients rename constraint recipients_failures_in_row_check to recipients_consecutive_failures_check;
alter table recipients rename constraint held_since_a_time to recipients_held_since_required;
alter table recipients rename constraint disabled_with_a_reason to recipients_disabled_reason_required;
alter table recipients rename constraint an_ehr_is_never_disabled to recipients_only_endpoints_disabled;
alter index recipients_in_trouble rename to recipients_not_active;

-- The time of the last redelivery or replay, from which the delivery's age counts.
alter table deliveries rename column begun_anew_at to restarted_at;
alter table deliveries rename constraint a_lane_has_places to deliveries_sequence_with_subscription;
alter table deliveries rename constraint settled_at_a_time to deliveries_settled_at_matches_status;
alter index deliveries_failed_lately rename to deliveries_failed_by_time;

alter table replays rename constraint a_range_begins to replays_range_has_start;
alter table replays rename constraint a_cursor_is_a_place to replays_cursor_complete;

alter table events rename constraint a_sequence_is_a_subscription_s to events_sequence_requires_subscription;

alter table subscriptions rename constraint plan_is_of_the_app to subscriptions_plan_belongs_to_app;
alter table subscriptions rename constraint paused_with_a_reason to subscriptions_pause_reason_required;
alter table subscriptions rename constraint cancelled_at_a_time to subscriptions_cancelled_at_required;
alter table subscriptions rename constraint only_cancelled_ones_block to subscriptions_block_requires_cancellation;
alter table subscriptions rename constraint times_in_order to subscriptions_timestamps_in_order;

alter table pricing_plans rename constraint plan_fits_its_model to pricing_plans_fields_match_model;
alter table pricing_plans rename constraint only_tiered_plans_have_tiers to pricing_plans_tiers_match_model;
alter table pricing_plans rename constraint only_usage_has_a_metric to pricing_plans_metric_requires_usage;

-- Triggers keep the functions that they call.
alter function audit_entries_stay() rename to audit_entries_reject_changes;
alter trigger audit_entries_stay on audit_entries rename to audit_entries_reject_changes;
alter function apps_refuse_unknown_extension_points() rename to apps_reject_unknown_extension_points;
alter trigger apps_refuse_unknown_extension_points on apps rename to apps_reject_unknown_extension_points;
alter function pricing_plans_never_change() rename to pricing_plans_reject_changes;
alter trigger pricing_plans_never_change on pricing_plans rename to pricing_plans_reject_changes;
alter function organisations_receive() rename to organisations_update_recipient;
alter trigger organisations_receive on organisations rename to organisations_update_recipient;
alter function endpoints_receive() rename to webhook_endpoints_insert_recipient;
alter trigger endpoints_receive on webhook_endpoints rename to webhook_endpoints_insert_recipient;
alter function events_name_their_vendor() rename to events_set_vendor;
alter trigger events_name_their_vendor on events rename to events_set_vendor;
alter function deliveries_wake_workers() rename to deliveries_notify_workers;
alter trigger deliveries_wake_workers_when_inserted on deliveries rename to deliveries_notify_workers_on_insert;
alter trigger deliveries_wake_workers_when_queued on deliveries rename to deliveries_notify_workers_on_update;
-- A statement's triggers run before those of its rows, so the lock is taken before any row lock.
alter function one_writer_at_a_time() rename to lock_catalog;
alter trigger a_one_writer_at_a_time on vendors rename to lock_catalog;
alter trigger a_one_writer_at_a_time on categories rename to lock_catalog;
alter trigger a_one_writer_at_a_time on apps rename to lock_catalog;
alter trigger a_one_writer_at_a_time on pricing_plans rename to lock_catalog;

alter function subscriptions_refuse_impossible_changes() rename to subscriptions_reject_invalid_changes;
alter trigger subscriptions_refuse_impossible_changes on subscriptions rename to subscriptions_reject_invalid_changes;
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
  if new.revision <> old.revision + (new.status <> old.status)::integer then
    raise exception 'revision must increase by one when the status changes, and only then' using errcode = 'restrict_violation';
  end if;
  if new.updated_at <= old.updated_at then
    raise exception 'updated_at must increase: % is not after %', new.updated_at, old.updated_at using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;

-- PostgreSQL can't rename a parameter: these functions are created again. Their code differs in names only.
drop function search_listings(text, text, integer);
drop function matching_listings(text, tsquery, tsquery, text, integer);
drop function meant_words(text, boolean);

-- The words of the catalog for a typed word: the word itself and, if it is unfinished, its completions; otherwise similar words.
create function expand_search_word(typed text, unfinished boolean) returns text[] language plpgsql stable as $$
declare
  expanded text[];
begin
  select array_agg(known.word) into expanded from (
    (select word from search_words where word = typed)
    union
    (
      select word from search_words
      where unfinished and word >= typed and word < typed || chr(1114111)
      order by apps desc, word limit 12
    )
  ) known;
  if expanded is null then
    select array_agg(known.word) into expanded from (
      select word from search_words where word % typed order by similarity(word, typed) desc, apps desc, word limit 4
    ) known;
  end if;
  return expanded;
end
$$;

create function matching_listings(
  needle text, typed tsquery, expanded tsquery, in_category text, max_results integer
) returns setof text language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  search_query tsquery := case when in_category is null then expanded else expanded && quote_literal('#' || in_category)::tsquery end;
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
      select app_id from app_search where tier = 0 and name_words @@ search_query
      union all
      select app_id from app_search where tier = 1 and name_words @@ search_query
      union all
      select app_id from app_search where tier = 2 and name_words @@ search_query
      union all
      select app_id from app_search where tier = 3 and name_words @@ search_query
      union all
      select app_id from app_search where tier = 4 and name_words @@ search_query
      limit 100
    )
    union
    (
      select app_id from app_search where tier = 0 and words @@ search_query
      union all
      select app_id from app_search where tier = 1 and words @@ search_query
      union all
      select app_id from app_search where tier = 2 and words @@ search_query
      union all
      select app_id from app_search where tier = 3 and words @@ search_query
      union all
      select app_id from app_search where tier = 4 and words @@ search_query
      limit 100
    )
  ),
  ranked as (
    select app_id, popular.popularity,
      round((
        case when searched.name = needle then 8 when starts_with(searched.name, needle) then 3 else 0 end
        + 4 * ts_rank(searched.words, typed)
        + ts_rank(searched.words, expanded)
        + similarity(searched.name, needle)
      )::numeric, 1) as relevance
    from candidate join app_search searched using (app_id) join app_popularity popular using (app_id)
  ),
  best as (
    select * from ranked order by relevance desc, popularity desc, app_id limit max_results
  )
  select listing.app_dto from best join app_listings listing using (app_id)
  order by best.relevance desc, best.popularity desc, app_id;
end
$$;

create function search_listings(given text, in_category text, max_results integer)
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
  for i in 1 .. coalesce(array_length(typed, 1), 0) loop
    word := typed[i];
    continue when is_stop_word(word) and not only_stop_words;
    term := any_of(expand_search_word(word, i = array_length(typed, 1)));
    continue when term is null;
    all_terms := case when all_terms is null then term else all_terms && term end;
    any_term := case when any_term is null then term else any_term || term end;
  end loop;
  if all_terms is null then
    return;
  end if;
  return query select * from matching_listings(needle, any_of(typed), all_terms, in_category, max_results);
  if not found then
    return query select * from matching_listings(needle, any_of(typed), any_term, in_category, max_results);
  end if;
end
$$;
