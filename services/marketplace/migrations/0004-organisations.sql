-- Who subscribes, and where its EHR listens; and who changed what.

create table organisations (
  id uuid primary key,
  alias text collate "C" not null unique check (alias ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  display_name text not null check (length(display_name) between 1 and 200),
  callback_url text check (callback_url ~ '^https?://' and length(callback_url) <= 2048),
  callback_networks cidr[] not null default '{}',
  -- version of the key, a dot, and the sealed secret; never the secret itself
  sealed_secret text not null check (sealed_secret ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

-- An organisation is never deleted, and its alias and id never change: subscriptions, events and audit name them.
grant select, insert on organisations to marketplace_service;
grant update (display_name, callback_url, callback_networks, sealed_secret, updated_at) on organisations
  to marketplace_service;

create table audit_entries (
  id uuid primary key,
  at timestamptz(3) not null,
  actor_issuer text not null,
  actor_subject text not null,
  actor_role text not null,
  on_behalf_of text collate "C" not null,
  action text not null,
  target_kind text not null,
  target_id text not null,
  request_id text not null,
  before json,
  after json
);
create index audit_entries_of_organisation on audit_entries (on_behalf_of, at desc, id desc);

-- What is written here stays: the service may add, and nothing else.
grant select, insert on audit_entries to marketplace_service;
create function audit_entries_stay() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'restrict_violation';
end
$$;
create trigger audit_entries_stay before update or delete or truncate on audit_entries
  for each statement execute function audit_entries_stay();
