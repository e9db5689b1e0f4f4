-- Usage above a limit that pauses is rejected, and a day has a limit of records.

-- How far a limit has to be raised, at least, before a subscription whose usage was rejected in the month is resumed.
create table reached_limits (
  subscription_id uuid primary key references subscriptions,
  month date not null check (extract(day from month) = 1),
  -- In the minor unit of the plan's currency
  least_amount numeric(40) not null check (least_amount >= 0)
);
grant select, insert on reached_limits to marketplace_service;
grant update (month, least_amount) on reached_limits to marketplace_service;

-- The day (UTC) of the last batch, and how many records were counted on it. Processes of the previous version leave both as they are.
alter table usage_reporters
  add column day date,
  add column records integer not null default 0;
grant update (day, records) on usage_reporters to marketplace_service;
