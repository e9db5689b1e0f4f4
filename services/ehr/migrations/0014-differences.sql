-- After the marketplace's database was restored, its list lacks changes that this service has stored.

-- What the marketplace's lists last came from. No row: not known yet.
create table marketplace_epoch (
  only_row boolean primary key default true check (only_row),
  system text not null check (system ~ '^[0-9a-f]{16}$'),
  timeline bigint not null,
  position numeric(20) not null,
  -- How often another one was found
  number integer not null default 0,
  since timestamptz(3) not null
);

-- A process of the previous version leaves both as they are: such a state counts as one of an earlier epoch, and the list brings the reason.
alter table subscriptions
  -- The number of the epoch in which the state was stored
  add column epoch integer not null default 0,
  -- Only while it is paused; null: not known
  add column pause_reason text
    check (pause_reason in ('NON_PAYMENT', 'OPERATOR_HOLD', 'SECURITY', 'ORG_REQUEST', 'SPEND_LIMIT'));

-- What the list says of a subscription, where an operator has to decide whether it replaces the stored state. It is settled, too, once the
-- stored state is another one.
create table differences (
  id uuid primary key,
  org_alias text collate "C" not null,
  subscription_id uuid not null,
  app_slug text collate "C" not null,
  status text not null check (status in ('active', 'paused')),
  pause_reason text check (pause_reason in ('NON_PAYMENT', 'OPERATOR_HOLD', 'SECURITY', 'ORG_REQUEST', 'SPEND_LIMIT')),
  fhir_scopes text check (length(fhir_scopes) <= 40000),
  as_of timestamptz(3) not null,
  stored_as_of timestamptz(3) not null,
  found_at timestamptz(3) not null,
  -- When an operator decided that the stored state stays
  kept_at timestamptz(3),
  unique (org_alias, subscription_id),
  foreign key (org_alias, subscription_id) references subscriptions (org_alias, id)
);
create index differences_newest on differences (found_at, id);

grant select, insert on marketplace_epoch to ehr_service;
grant update (system, timeline, position, number, since) on marketplace_epoch to ehr_service;
grant select, insert, delete on differences to ehr_service;
grant update (id, app_slug, status, pause_reason, fhir_scopes, as_of, stored_as_of, found_at, kept_at) on differences to ehr_service;
