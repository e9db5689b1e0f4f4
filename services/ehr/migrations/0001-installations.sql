-- Which apps an organisation has, as the marketplace told it.

do $$ begin
  create role ehr_service nologin;
exception when duplicate_object or unique_violation then null;
end $$;
-- Clusters that began before PostgreSQL 15 let anyone create tables here.
revoke create on schema public from public;
grant usage on schema public to ehr_service;
grant select on schema_migrations to ehr_service;

-- Version 7, so that new rows lie together; PostgreSQL has its own only from 18 on.
create function mint_uuid() returns uuid language sql volatile parallel safe return
  encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid;

-- Who is told by the marketplace: its row is the lock under which events of one organisation are applied.
create table organisations (
  alias text collate "C" primary key check (alias ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  -- version of the key, a dot, and the sealed secret; never the secret itself
  sealed_secret text not null check (sealed_secret ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'),
  -- The one before still verifies, until then
  sealed_previous_secret text check (sealed_previous_secret ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'),
  previous_until timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- When it was last held against the marketplace's own list
  reconciled_at timestamptz(3),
  constraint an_overlap_has_an_end check ((sealed_previous_secret is null) = (previous_until is null))
);
create index organisations_longest_unreconciled on organisations (coalesce(reconciled_at, created_at));
create index organisations_overlapping on organisations (previous_until) where previous_until is not null;
grant select, insert on organisations to ehr_service;
grant update (sealed_secret, sealed_previous_secret, previous_until, updated_at, reconciled_at) on organisations
  to ehr_service;

-- What the marketplace's catalog says of an app. An event brings its slug only: whoever has one organisation's secret may say
-- nothing of it to the others.
create table apps (
  slug text collate "C" primary key check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) between 3 and 64),
  -- All null until the catalog has been read
  id uuid,
  name text,
  icon_url text,
  category text,
  extension_points text[],
  smart_launch_url text,
  fhir_scopes text,
  -- The JSON as it came: jsonb would refuse what is valid in a pattern. null: the app takes any object
  config_schema text,
  -- Whether the catalog has been read
  schema_known boolean not null default false,
  -- Why it can't be used, where it can't
  schema_problem text,
  -- Which values of a configuration nobody is shown, worked out from the schema, as JSON; null: none
  config_secrets text,
  -- Of the catalog's answer, to ask only for what has changed
  etag text,
  -- When the catalog last answered, also that it has no such app
  fetched_at timestamptz(3),
  updated_at timestamptz(3) not null,
  constraint what_was_read_is_known check (
    not schema_known or (id, name, icon_url, category, extension_points, fhir_scopes) is not null
  )
);
create index apps_to_fetch on apps (fetched_at nulls first, slug);
grant select, insert, update on apps to ehr_service;

-- The newest that is known of each subscription, also after it is cancelled: an older event changes nothing.
create table subscriptions (
  org_alias text collate "C" not null references organisations,
  id uuid not null,
  app_slug text collate "C" not null references apps,
  status text not null check (status in ('active', 'paused', 'cancelled')),
  as_of timestamptz(3) not null,
  primary key (org_alias, id)
);
create index subscriptions_live on subscriptions (org_alias, app_slug, as_of desc) where status <> 'cancelled';
grant select, insert, update on subscriptions to ehr_service;

-- One for each organisation and app, while any subscription to it is live; afterwards it keeps its configuration for a while.
create table installations (
  id uuid primary key,
  org_alias text collate "C" not null references organisations,
  app_slug text collate "C" not null references apps,
  -- removed: no subscription is live
  status text not null check (status in ('active', 'paused', 'removed')),
  subscription_id uuid not null,
  sealed_config text check (sealed_config ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'),
  -- What the app kept secret when this was stored, as a list of what apps.config_secrets was: a later schema reveals nothing of it
  config_secrets text check (config_secrets is null or sealed_config is not null),
  installed_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  -- What this organisation was told of the app, which serves until the catalog has been read; null where that was read before
  app_as_told jsonb,
  unique (org_alias, app_slug),
  foreign key (org_alias, subscription_id) references subscriptions (org_alias, id),
  constraint removed_at_a_time check ((status = 'removed') = (removed_at is not null))
);
create index installations_removed on installations (removed_at) where status = 'removed';
create index installations_of_app on installations (app_slug);
grant select, insert, update, delete on installations to ehr_service;

-- Once applied, a delivery that comes again needs no second look.
create table applied_deliveries (
  org_alias text collate "C" not null references organisations,
  delivery_id text not null check (length(delivery_id) between 1 and 255),
  applied_at timestamptz(3) not null,
  primary key (org_alias, delivery_id)
);
create index applied_deliveries_old on applied_deliveries (applied_at);
grant select, insert, delete on applied_deliveries to ehr_service;

-- Every process keeps what it has read until it hears that it changed.
create function installations_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('installations_changed', coalesce(new.org_alias, old.org_alias));
  return null;
end
$$;
create trigger installations_changed after insert or update or delete on installations
  for each row execute function installations_changed();
-- An alias has no colon.
create function apps_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('installations_changed', 'app:' || new.slug);
  return null;
end
$$;
create trigger apps_changed after update on apps for each row
  when ((old.id, old.name, old.icon_url, old.category, old.extension_points, old.smart_launch_url, old.fhir_scopes, old.config_secrets,
      old.schema_known)
    is distinct from
    (new.id, new.name, new.icon_url, new.category, new.extension_points, new.smart_launch_url, new.fhir_scopes, new.config_secrets,
      new.schema_known))
  execute function apps_changed();
