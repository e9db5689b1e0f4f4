-- What callers may not do too often, and lists that stay fast when they are long.

-- The path that is appended begins with a slash.
update organisations set callback_url = rtrim(callback_url, '/') where callback_url like '%/';

-- When it was tested during the last minute, the oldest first: at most ten times.
alter table webhook_endpoints add column recent_tests timestamptz(3)[] not null default '{}';
grant update (recent_tests) on webhook_endpoints to marketplace_service;
