-- Statements: what each subscription costs in a month, charged day by day while the month is open, and unchangeable once it is closed.

-- Which months have statements, and how far the worker is with them.
create table statement_months (
  month date primary key check (extract(day from month) = 1),
  -- `skipped`: it was over before statements existed.
  status text not null check (status in ('skipped', 'open', 'closing', 'closed')),
  -- Subscriptions are charged in the order of their ids, then vendors' totals are added up in the order of theirs.
  phase text not null default 'charging' check (phase in ('charging', 'totalling', 'done')),
  -- The last one that is done, of the phase
  cursor uuid,
  -- When the charging began that is under way, or done
  started_at timestamptz(3) not null,
  -- Subscriptions that it has looked at
  done bigint not null default 0,
  -- The figures are at least as recent. Null until all were calculated once
  as_of timestamptz(3),
  closed_at timestamptz(3),
  check ((status = 'closed') = (closed_at is not null)),
  check (status not in ('closed', 'skipped') or phase = 'done')
);
grant select, insert on statement_months to marketplace_service;
grant update (status, phase, cursor, started_at, done, as_of, closed_at) on statement_months to marketplace_service;

create function statement_months_reject_changes() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  raise exception 'a closed month can''t change' using errcode = 'restrict_violation';
end
$$;
create trigger statement_months_reject_changes before update or delete on statement_months
  for each row when (old.status in ('closed', 'skipped')) execute function statement_months_reject_changes();
create trigger statement_months_reject_truncation before truncate on statement_months
  for each statement execute function statement_months_reject_changes();

-- The lines of closed months. No foreign keys: their checks would lock rows that requests change.
create table closed_lines (
  month date not null,
  subscription_id uuid not null,
  -- From 1 for each subscription
  number smallint not null check (number > 0),
  organisation_id uuid not null,
  vendor_id uuid not null,
  app_id uuid not null,
  -- As it was when the month was closed
  app_name text not null,
  currency text collate "C" not null,
  description text not null,
  quantity text not null,
  unit_amount text not null,
  days smallint,
  interval_days smallint,
  -- In the currency's minor unit
  amount numeric not null check (amount = trunc(amount)),
  -- The earlier month that the line corrects
  adjusts date check (adjusts < month),
  primary key (month, subscription_id, number)
);
create index closed_lines_of_organisation on closed_lines (month, organisation_id, currency, subscription_id, number);
create index closed_lines_of_vendor on closed_lines (month, vendor_id, subscription_id, number);

-- What a vendor's apps are charged.
create table closed_totals (
  month date not null,
  vendor_id uuid not null,
  app_id uuid not null,
  currency text collate "C" not null,
  -- The month that is charged: this one, or the earlier one that is corrected
  charges date not null check (charges <= month),
  app_name text not null,
  subscriptions integer not null check (subscriptions > 0),
  amount numeric not null check (amount = trunc(amount)),
  primary key (month, vendor_id, app_id, currency, charges)
);

create table closed_commissions (
  month date not null,
  vendor_id uuid not null,
  currency text collate "C" not null,
  charges date not null check (charges <= month),
  gross numeric not null check (gross = trunc(gross)),
  -- As it was when the charged month was closed
  commission_percent numeric(5, 2) not null,
  commission numeric not null check (commission = trunc(commission)),
  primary key (month, vendor_id, currency, charges)
);

-- The same of open months, replaced once a day.
create table open_lines (like closed_lines including all);
create table open_totals (like closed_totals including all);
create table open_commissions (like closed_commissions including all);

grant select, insert on closed_lines, closed_totals, closed_commissions to marketplace_service;
grant select, insert, delete on open_lines, open_totals, open_commissions to marketplace_service;

create function statements_reject_changes() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  raise exception 'a statement can''t change' using errcode = 'restrict_violation';
end
$$;
create trigger closed_lines_reject_changes before update or delete or truncate on closed_lines
  for each statement execute function statements_reject_changes();
create trigger closed_totals_reject_changes before update or delete or truncate on closed_totals
  for each statement execute function statements_reject_changes();
create trigger closed_commissions_reject_changes before update or delete or truncate on closed_commissions
  for each statement execute function statements_reject_changes();

-- Nothing is added to a month before it is being closed, nor afterwards.
create function statements_reject_additions() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (
    select from (select distinct month from added) months
    where not exists (
      select from statement_months where statement_months.month = months.month and status = 'closing' and phase = tg_argv[0]
    )
  ) then
    raise exception 'the month isn''t being closed' using errcode = 'restrict_violation';
  end if;
  return null;
end
$$;
create trigger closed_lines_reject_additions after insert on closed_lines referencing new table as added
  for each statement execute function statements_reject_additions('charging');
create trigger closed_totals_reject_additions after insert on closed_totals referencing new table as added
  for each statement execute function statements_reject_additions('totalling');
create trigger closed_commissions_reject_additions after insert on closed_commissions referencing new table as added
  for each statement execute function statements_reject_additions('totalling');

-- Months of which usage was reported, or taken back, after they were over. No foreign key: the hours of the same transaction have one.
create table late_usage (
  subscription_id uuid not null,
  month date not null check (extract(day from month) = 1),
  reported_at timestamptz(3) not null,
  primary key (subscription_id, month)
);
grant select, insert, delete on late_usage to marketplace_service;
grant update (reported_at) on late_usage to marketplace_service;

-- In an upgrade, statements begin with this month. In a new installation they begin with the first subscription.
insert into statement_months (month, status, phase, started_at)
select date_trunc('month', now() at time zone 'UTC')::date - interval '1 month', 'skipped', 'done', now()
where exists (select from subscriptions);

-- Months are added in order and open, from that of the first subscription. After it was inserted: another worker may insert the same one.
create function statement_months_reject_additions() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  latest date := (select max(month) from statement_months where month <> new.month);
  expected date;
begin
  if latest is not null then
    expected := latest + interval '1 month';
  else
    -- From the index of each status
    select date_trunc('month', min(first) at time zone 'UTC') into expected
    from unnest(array['active', 'paused', 'cancelled']) as statuses(status)
    cross join lateral (
      select min(created_at) as first from subscriptions where subscriptions.status = statuses.status
    ) firsts;
  end if;
  if new.status <> 'open' or new.month is distinct from expected then
    raise exception 'the next month is an open one after the latest' using errcode = 'restrict_violation';
  end if;
  return null;
end
$$;
create trigger statement_months_reject_additions after insert on statement_months
  for each row execute function statement_months_reject_additions();

-- Open, closing, closed: no step is left out or taken back.
create function statement_months_reject_steps() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  raise exception 'a month is open, then closing, then closed' using errcode = 'restrict_violation';
end
$$;
create trigger statement_months_reject_steps before update on statement_months
  for each row when (
    old.status is distinct from new.status and (old.status, new.status) not in (('open', 'closing'), ('closing', 'closed'))
  ) execute function statement_months_reject_steps();
