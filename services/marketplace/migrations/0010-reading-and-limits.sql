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
