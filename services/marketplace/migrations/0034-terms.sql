-- Plan and quantity of a subscription can change, and what it costs follows from what it was on each day.

-- What was agreed before, until when. What is agreed now is in `subscriptions`.
create table ended_terms (
  subscription_id uuid not null references subscriptions,
  ended_at timestamptz(3) not null,
  pricing_plan_id uuid not null references pricing_plans,
  quantity integer check (quantity >= 1),
  primary key (subscription_id, ended_at)
);
-- Only the trigger inserts, so that nobody rewrites the past.
grant select on ended_terms to marketplace_service;

create function subscriptions_record_ended_terms() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into ended_terms (subscription_id, ended_at, pricing_plan_id, quantity)
  values (new.id, new.updated_at, old.pricing_plan_id, old.quantity);
  return null;
end
$$;
revoke execute on function subscriptions_record_ended_terms() from public;
create trigger subscriptions_record_ended_terms after update of pricing_plan_id, quantity on subscriptions
  for each row when ((old.pricing_plan_id, old.quantity) is distinct from (new.pricing_plan_id, new.quantity))
  execute function subscriptions_record_ended_terms();

create function subscriptions_reject_other_currency() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if (select currency from plan_records where id = new.pricing_plan_id)
    <> (select currency from plan_records where id = old.pricing_plan_id)
  then
    raise exception 'the currency of a subscription can''t change' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger subscriptions_reject_other_currency before update of pricing_plan_id on subscriptions
  for each row when (old.pricing_plan_id <> new.pricing_plan_id)
  execute function subscriptions_reject_other_currency();

-- The same for pauses, whose table the service could write until now.
revoke insert on ended_pauses from marketplace_service;
alter function subscriptions_record_ended_pause() security definer;
revoke execute on function subscriptions_record_ended_pause() from public;
create index ended_pauses_by_end on ended_pauses (subscription_id, ended_at);

grant update (pricing_plan_id, quantity) on subscriptions to marketplace_service;
