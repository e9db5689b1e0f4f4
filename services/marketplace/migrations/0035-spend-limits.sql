-- How much a subscription may cost in a month, and what happens then.

create table spend_limits (
  subscription_id uuid primary key references subscriptions,
  -- In the minor unit of the plan's currency
  amount bigint not null check (amount > 0),
  on_reached text not null check (on_reached in ('notify', 'pause')),
  -- Who has set it, and with which request: the audit entry of the pause names them.
  actor_issuer text not null,
  actor_subject text not null,
  actor_role text not null,
  request_id text not null,
  updated_at timestamptz(3) not null
);
grant select, insert, delete on spend_limits to marketplace_service;
grant update (amount, on_reached, actor_issuer, actor_subject, actor_role, request_id, updated_at) on spend_limits to marketplace_service;

-- Not validated, which would read the table under an exclusive lock: the narrower constraint before held for every row.
alter table subscriptions
  drop constraint subscriptions_pause_reason_check,
  add constraint subscriptions_pause_reason_check
    check (pause_reason in ('NON_PAYMENT', 'OPERATOR_HOLD', 'SECURITY', 'ORG_REQUEST', 'SPEND_LIMIT')) not valid;
