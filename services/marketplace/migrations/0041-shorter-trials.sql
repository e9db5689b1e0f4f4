-- A change of plan may end a trial earlier, and never later: free days stay free.
create function subscriptions_reject_longer_trial() returns trigger
language plpgsql
as $$
begin
  if old.trial_ends_at is null or new.trial_ends_at is null or new.trial_ends_at > old.trial_ends_at
    or new.trial_ends_at < new.updated_at or new.pricing_plan_id = old.pricing_plan_id then
    raise exception 'a trial ends earlier only, with a change of plan, and not in the past' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger subscriptions_reject_longer_trial before update of trial_ends_at on subscriptions
  for each row when (new.trial_ends_at is distinct from old.trial_ends_at)
  execute function subscriptions_reject_longer_trial();
grant update (trial_ends_at) on subscriptions to marketplace_service;
