-- How the apps sign in, as the marketplace last said.
create table client_metadata (
  app_slug text collate "C" primary key references apps,
  -- suspended: the marketplace doesn't say while the app is suspended for security. absent: the vendor has not said.
  outcome text not null check (outcome in ('found', 'absent', 'suspended')),
  -- JSON with the names of RFC 7591
  metadata text check (length(metadata) <= 16384),
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  etag text check (length(etag) <= 200),
  fetched_at timestamptz(3) not null,
  check (num_nonnulls(metadata, sha256) in (0, 2)),
  check (outcome <> 'found' or metadata is not null)
);

-- The apps' OAuth clients at the EHR's authorization server.
create table clients (
  id uuid primary key,
  app_slug text collate "C" not null references apps,
  -- Null: one client for all organisations
  org_alias text collate "C" references organisations,
  method text not null check (method in ('cimd', 'dcr', 'manual')),
  status text not null check (status in ('pending', 'ready', 'failed', 'uncertain', 'removing')),
  -- What an operator has to do
  task text check (task in ('register', 'update', 'remove', 'check')),
  client_id text collate "C" unique check (length(client_id) between 1 and 2048),
  registration_uri text check (length(registration_uri) <= 2048),
  encrypted_registration_token text check (encrypted_registration_token ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'),
  registered_sha256 text check (registered_sha256 ~ '^[0-9a-f]{64}$'),
  -- The last request to the authorization server whose result isn't stored. A killed process leaves it.
  attempt text check (attempt in ('register', 'update', 'remove')),
  attempted_at timestamptz(3),
  reason text check (length(reason) between 1 and 500),
  -- Another one whenever the marketplace has to be told something else
  version uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint clients_of_app unique nulls not distinct (app_slug, org_alias),
  constraint clients_managed_check check (num_nonnulls(registration_uri, encrypted_registration_token) in (0, 2)
    and (registration_uri is null or (method = 'dcr' and client_id is not null))),
  constraint clients_ready_check check (status <> 'ready' or (client_id is not null and registered_sha256 is not null)),
  constraint clients_failed_check check (status <> 'failed' or reason is not null),
  constraint clients_uncertain_check check (
    (status = 'uncertain') = (task is not distinct from 'check')
    and (status <> 'uncertain' or (num_nonnulls(attempt, attempted_at, reason) = 3))),
  constraint clients_attempted_at_check check (attempted_at is null or attempt is not null),
  constraint clients_attempt_method_check check (attempt is null or method = 'dcr')
);
create index clients_newest on clients (created_at, id);
create index clients_by_status on clients (status, created_at, id);
create index clients_with_tasks on clients (created_at, id) where task is not null;

-- The version of the client that the marketplace was told of for this installation's subscription
alter table installations add column reported_version uuid;
-- Installations of an app in the order of their organisations. It replaces the index without them.
create index installations_of_app_by_alias on installations (app_slug, org_alias);
drop index installations_of_app;

-- A report changes nothing that processes cache.
drop trigger installations_changed on installations;
create trigger installations_changed after insert or delete on installations
  for each row execute function installations_changed();
create trigger installations_updated after update on installations
  for each row when (old.updated_at is distinct from new.updated_at
    or old.reported_version is not distinct from new.reported_version)
  execute function installations_changed();

-- Installations show their client, and processes cache both: the client by its id at the authorization server.
create function clients_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('installations_changed',
    coalesce(new.org_alias, old.org_alias, 'app:' || coalesce(new.app_slug, old.app_slug)));
  if old.client_id is not null then perform pg_notify('installations_changed', 'client:' || old.client_id); end if;
  if new.client_id is distinct from old.client_id and new.client_id is not null then
    perform pg_notify('installations_changed', 'client:' || new.client_id);
  end if;
  return null;
end
$$;
create trigger clients_changed after insert or delete on clients
  for each row execute function clients_changed();
create trigger clients_updated after update on clients
  for each row when ((old.status, old.client_id, old.reason) is distinct from (new.status, new.client_id, new.reason))
  execute function clients_changed();

grant select, insert on client_metadata to ehr_service;
grant update (outcome, metadata, sha256, etag, fetched_at) on client_metadata to ehr_service;
grant select, insert, delete on clients to ehr_service;
grant update (method, status, task, client_id, registration_uri, encrypted_registration_token, registered_sha256, attempt,
  attempted_at, reason, version, updated_at) on clients to ehr_service;
