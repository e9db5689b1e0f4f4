-- The aggregates of each day: a month is the sum of 31 of them, and of up to 744 hours, each of which may be in a page of its own.
create table usage_days (
  subscription_id uuid not null references subscriptions,
  -- In UTC
  day date not null,
  metric text collate "C" not null,
  aggregation text not null check (aggregation in ('SUM', 'COUNT', 'MAX', 'LATEST')),
  -- As of an hour
  quantity numeric not null check (quantity >= 0),
  record_count bigint not null check (record_count >= 0),
  latest_at timestamptz(3),
  latest_id text collate "C",
  primary key (subscription_id, day, metric, aggregation),
  check (num_nonnulls(latest_at, latest_id) = case when aggregation = 'LATEST' and record_count > 0 then 2 else 0 end)
);
grant select, insert on usage_days to marketplace_service;
grant update (quantity, record_count, latest_at, latest_id) on usage_days to marketplace_service;

insert into usage_days (subscription_id, day, metric, aggregation, quantity, record_count, latest_at, latest_id)
select subscription_id, (hour at time zone 'UTC')::date as day, metric, aggregation,
  case aggregation
    when 'MAX' then max(quantity)
    when 'LATEST' then coalesce((array_agg(quantity order by latest_at desc, latest_id desc) filter (where record_count > 0))[1], 0)
    else sum(quantity)
  end,
  sum(record_count), max(latest_at),
  (array_agg(latest_id order by latest_at desc, latest_id desc) filter (where record_count > 0))[1]
from usage_hours
group by subscription_id, day, metric, aggregation;
