-- What callers may not do too often, and lists that stay fast when they are long.

-- The path that is appended begins with a slash.
update organisations set callback_url = rtrim(callback_url, '/') where callback_url like '%/';

-- When it was tested during the last minute, the oldest first: at most ten times.
alter table webhook_endpoints add column recent_tests timestamptz(3)[] not null default '{}';
grant update (recent_tests) on webhook_endpoints to marketplace_service;

create index replays_of_recipient on replays (recipient_id, created_at desc, id desc);

-- Lists over organisations read the first rows of each range and merge them: each app and status, or each status.
create index subscriptions_of_app on subscriptions (app_id, status, created_at desc, id desc);
create index subscriptions_by_status on subscriptions (status, created_at desc, id desc);

-- The whole audit log, and each of its filters: ascending in every column, so that a page is one range of row values.
create index audit_entries_newest on audit_entries (at, id);
create index audit_entries_of_actor on audit_entries (actor_subject, at, id);
create index audit_entries_of_action on audit_entries (action, at, id);
create index audit_entries_on_behalf_of on audit_entries (on_behalf_of, at, id);
drop index audit_entries_of_organisation;

-- Whose apps an event is about: a replay finds a vendor's events by their time, also those from before an endpoint existed.
-- Without a reference: every event of a busy vendor would lock the vendor's row.
alter table events add column vendor_id uuid;
update events set vendor_id = apps.vendor_id
from subscriptions join apps on apps.id = subscriptions.app_id
where subscriptions.id = events.subscription_id;
update events set vendor_id = endpoint.vendor_id
from deliveries delivery join webhook_endpoints endpoint on endpoint.id = delivery.recipient_id
where delivery.event_id = events.id and events.subscription_id is null;
create index events_of_vendor on events (vendor_id, occurred_at, id);

-- For processes of the release before, which don't name it.
create function events_name_their_vendor() returns trigger language plpgsql as $$
begin
  select apps.vendor_id into new.vendor_id
  from subscriptions join apps on apps.id = subscriptions.app_id where subscriptions.id = new.subscription_id;
  return new;
end
$$;
create trigger events_name_their_vendor before insert on events
  for each row when (new.vendor_id is null and new.subscription_id is not null)
  execute function events_name_their_vendor();

-- Replays of a range walk events now, not deliveries. What has the time of the cursor is sent once more, not left out.
update replays set cursor_id = '00000000-0000-0000-0000-000000000000'
where status = 'running' and kind = 'range' and cursor_id is not null;
