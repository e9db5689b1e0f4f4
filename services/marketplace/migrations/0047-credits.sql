-- Credits: how a complaint about a charge ends. Each one is a line of the month in which it is given, and what makes a total negative is
-- carried over to the next month.

-- What an organisation's subscriptions to an app in one currency are given back. Nobody changes or takes back what was given.
create table credits (
  id uuid primary key,
  subscription_id uuid not null references subscriptions,
  -- The account, whose credits have one maximum. The trigger sets it, and the number.
  organisation_id uuid not null,
  app_id uuid not null,
  currency text collate "C" not null,
  -- The one in which it was given
  month date not null check (extract(day from month) = 1),
  -- Of the account's credits in the month. Each becomes a line.
  number smallint not null check (number between 1 and 100),
  -- In the currency's minor unit
  amount bigint not null check (amount > 0),
  text text not null check (length(text) between 1 and 200 and text !~ '[\u0001-\u001F\u007F-\u009F]'),
  -- What the account was charged in the month so far and in the three before it, when the credit was given
  charged numeric not null check (charged = trunc(charged)),
  created_at timestamptz(3) not null,
  unique (organisation_id, app_id, currency, month, number)
);
create index credits_of_subscription on credits (month, subscription_id);
grant select, insert on credits to marketplace_service;

-- As the owner, because the service doesn't read plans in their table.
create function credits_reject_above_charge() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  credited numeric;
begin
  select subscriptions.organisation_id, subscriptions.app_id, pricing_plans.currency
    into strict new.organisation_id, new.app_id, new.currency
    from subscriptions join pricing_plans on pricing_plans.id = pricing_plan_id where subscriptions.id = new.subscription_id;
  -- The account's credits are given one after the other, and none while the worker takes a step of the month.
  perform pg_advisory_xact_lock(hashtextextended(format('account %s %s', new.organisation_id, new.app_id), 0));
  perform from statement_months where month = new.month for key share;
  if exists (select from statement_months where month >= new.month and status <> 'open') then
    raise exception 'a credit is given in an open month' using errcode = 'restrict_violation';
  end if;
  select coalesce(sum(amount), 0), coalesce(max(number) filter (where month = new.month), 0) + 1 into credited, new.number
    from credits
    where organisation_id = new.organisation_id and app_id = new.app_id and currency = new.currency
      and month >= new.month - interval '3 months';
  if credited + new.amount > new.charged then
    raise exception 'an account is credited at most what it was charged' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
revoke execute on function credits_reject_above_charge() from public;
create trigger credits_reject_above_charge before insert on credits
  for each row execute function credits_reject_above_charge();

create function credits_reject_changes() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  raise exception 'a credit can''t change' using errcode = 'restrict_violation';
end
$$;
create trigger credits_reject_changes before update or delete or truncate on credits
  for each statement execute function credits_reject_changes();

-- The credit that a line is. Not validated: no line of before has one, and there are many.
alter table closed_lines
  add column credit_id uuid,
  add constraint closed_lines_credit_check check (credit_id is null or (adjusts is null and amount < 0)) not valid;
alter table open_lines
  add column credit_id uuid,
  add constraint open_lines_credit_check check (credit_id is null or (adjusts is null and amount < 0)) not valid;
create index closed_lines_negative on closed_lines (month, organisation_id, currency) where amount < 0;

-- A vendor's statement has a line for an app's charges, and one for its credits.
-- The tables have a row for each vendor and app in a month.
alter table closed_totals
  add column is_credit boolean not null default false,
  drop constraint closed_totals_pkey,
  -- squawk-ignore constraint-missing-not-valid, adding-serial-primary-key-field
  add primary key (month, vendor_id, app_id, currency, charges, is_credit);
alter table open_totals
  add column is_credit boolean not null default false,
  drop constraint open_totals_pkey,
  -- squawk-ignore constraint-missing-not-valid, adding-serial-primary-key-field
  add primary key (month, vendor_id, app_id, currency, charges, is_credit);

-- A worker of an earlier version would leave credits out.
create function statement_months_require_credits() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (
    select from credits
    where month = new.month and 1 <> (
      select count(*) from closed_lines line
      where line.month = credits.month and line.subscription_id = credits.subscription_id
        and line.credit_id = credits.id and line.amount = -credits.amount
    )
  ) then
    raise exception 'a month is closed with each of its credits, once' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger statement_months_require_credits before update on statement_months
  for each row when (old.status = 'closing' and old.phase = 'charging' and new.phase <> 'charging')
  execute function statement_months_require_credits();

-- What a month leaves if its total is negative, with what was carried over to it: less to pay for the next one.
create table carried_over (
  -- To which it is carried
  month date not null check (extract(day from month) = 1),
  party text not null check (party in ('organisation', 'vendor')),
  party_id uuid not null,
  currency text collate "C" not null,
  amount numeric not null check (amount < 0 and amount = trunc(amount)),
  primary key (month, party, party_id, currency)
);
grant select, insert on carried_over to marketplace_service;
create trigger carried_over_reject_changes before update or delete or truncate on carried_over
  for each statement execute function statements_reject_changes();

create function carried_over_reject_additions() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (
    select from (select distinct month from added) carried
    where not exists (
      select from statement_months
      where statement_months.month = carried.month - interval '1 month' and status = 'closing' and phase = 'totalling'
    )
  ) then
    raise exception 'the month isn''t being closed' using errcode = 'restrict_violation';
  end if;
  return null;
end
$$;
create trigger carried_over_reject_additions after insert on carried_over referencing new table as added
  for each statement execute function carried_over_reject_additions();
