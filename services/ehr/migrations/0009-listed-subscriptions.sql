-- A subscription that the marketplace listed exists; one whose app is merely in the catalog may be forged. Once the catalog lacks the app,
-- only the former stays confirmed.
alter table subscriptions
  -- When the marketplace's list first had it, with this app; null: never
  add column listed_at timestamptz(3);
create index subscriptions_never_listed on subscriptions (app_slug, org_alias)
  where listed_at is null and status <> 'cancelled';

-- Reads no longer wait for unconfirmed subscriptions, so no process keeps them in memory.
drop trigger subscriptions_unconfirmed_changed on subscriptions;

-- At most five minutes of catalog requests are reserved ahead; what forged events reserved before that rule is released.
update organisations set app_fetches_until = null where app_fetches_until > now() + interval '5 minutes';
