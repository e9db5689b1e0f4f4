CREATE FUNCTION public.apps_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform pg_notify('installations_changed', 'app:' || new.slug);
  return null;
end
$$;

CREATE FUNCTION public.audit_entries_reject_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'the audit log is append-only' using errcode = 'restrict_violation';
end
$$;

CREATE FUNCTION public.clients_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.drop_oldest_audit_entries(today date, kept_days integer) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $_$
declare
  floor_days integer;
  oldest text;
begin
  -- Another process is dropping.
  if not pg_try_advisory_xact_lock(hashtext('drop_oldest_audit_entries')) then return null; end if;
  select least_days into strict floor_days from public.audit_log_retention;
  select relname into oldest from pg_class join pg_inherits on inhrelid = pg_class.oid
    where inhparent = 'public.audit_entries'::regclass and relname ~ '^audit_entries_\d{8}$'
      and to_date(right(relname, 8), 'YYYYMMDD')
        < least(today, (now() at time zone 'UTC')::date) - greatest(kept_days, floor_days)
    order by relname limit 1;
  if oldest is not null then execute format('drop table public.%I', oldest); end if;
  return oldest;
end
$_$;

CREATE FUNCTION public.drop_oldest_launches(today date, kept_days integer) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $_$
declare
  floor_days integer;
  oldest text;
begin
  -- Another process is dropping.
  if not pg_try_advisory_xact_lock(hashtext('drop_oldest_launches')) then return null; end if;
  select least_days into strict floor_days from public.launch_log_retention;
  select relname into oldest from pg_class join pg_inherits on inhrelid = pg_class.oid
    where inhparent = 'public.launches'::regclass and relname ~ '^launches_\d{8}$'
      and to_date(right(relname, 8), 'YYYYMMDD')
        < least(today, (now() at time zone 'UTC')::date) - greatest(kept_days, floor_days)
    order by relname limit 1;
  if oldest is not null then execute format('drop table public.%I', oldest); end if;
  return oldest;
end
$_$;

CREATE FUNCTION public.installations_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform pg_notify('installations_changed', coalesce(new.org_alias, old.org_alias));
  return null;
end
$$;

CREATE FUNCTION public.is_web_url(url text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((length(url) <= 2048) AND (url ~ '^(https://[^\s/]\S*|http://(localhost|127([.]\d{1,3}){3}|\[::1\])(:\d{1,5})?(/\S*)?)$'::text));

CREATE FUNCTION public.launches_reject_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'the launch log is append-only' using errcode = 'restrict_violation';
end
$$;

CREATE FUNCTION public.mint_uuid() RETURNS uuid
    LANGUAGE sql PARALLEL SAFE
    RETURN (encode(set_bit(set_bit(OVERLAY(uuid_send(gen_random_uuid()) PLACING SUBSTRING(int8send(((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric))::bigint) FROM 3) FROM 1 FOR 6), (52)::bigint, 1), (53)::bigint, 1), 'hex'::text))::uuid;

CREATE FUNCTION public.prepare_audit_partitions(today date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '1s'
    AS $$
declare
  day date;
  name text;
begin
  if (today between '2000-01-02' and '2999-12-01') is not true then
    raise exception '% is not a day of this log', today;
  end if;
  perform pg_advisory_xact_lock(hashtext('prepare_audit_partitions'));
  for day in select generate_series(today - 1, today + 7, interval '1 day')::date loop
    name := 'audit_entries_' || to_char(day, 'YYYYMMDD');
    if to_regclass('public.' || name) is null then
      execute format('create table public.%I (like public.audit_entries including all)', name);
      execute format(
        'create trigger audit_entries_stay before update or delete or truncate on public.%I
           for each statement execute function public.audit_entries_reject_changes()',
        name
      );
      execute format(
        'alter table public.audit_entries attach partition public.%I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
      );
    end if;
  end loop;
end
$$;

CREATE FUNCTION public.prepare_launch_partitions(today date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET lock_timeout TO '1s'
    AS $$
declare
  day date;
  name text;
begin
  -- The name of a partition ends with the eight digits of its day; outside these bounds two days could have the same digits.
  if (today between '2000-01-02' and '2999-12-01') is not true then
    raise exception '% is not a day of this log', today;
  end if;
  -- Processes that start at the same time call this at the same time.
  perform pg_advisory_xact_lock(hashtext('prepare_launch_partitions'));
  for day in select generate_series(today - 1, today + 7, interval '1 day')::date loop
    name := 'launches_' || to_char(day, 'YYYYMMDD');
    if to_regclass('public.' || name) is null then
      execute format('create table public.%I (like public.launches including all)', name);
      -- A statement trigger of the parent doesn't fire for a statement that names a partition.
      execute format(
        'create trigger launches_stay before update or delete or truncate on public.%I
           for each statement execute function public.launches_reject_changes()',
        name
      );
      execute format(
        'alter table public.launches attach partition public.%I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
      );
    end if;
  end loop;
end
$$;

CREATE TABLE public.applied_deliveries (
    org_alias text NOT NULL COLLATE pg_catalog."C",
    delivery_id text NOT NULL,
    applied_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT applied_deliveries_delivery_id_check CHECK (((length(delivery_id) >= 1) AND (length(delivery_id) <= 255)))
);

CREATE TABLE public.apps (
    slug text NOT NULL COLLATE pg_catalog."C",
    id uuid,
    name text,
    icon_url text,
    category text,
    extension_points text[],
    smart_launch_url text,
    fhir_scopes text,
    config_schema text,
    schema_known boolean DEFAULT false NOT NULL,
    schema_problem text,
    config_secrets text,
    etag text,
    fetched_at timestamp(3) with time zone,
    updated_at timestamp(3) with time zone NOT NULL,
    catalog_absent_at timestamp(3) with time zone,
    cds_services_url text,
    catalog_etag text,
    CONSTRAINT apps_complete_facts_check CHECK ((num_nonnulls(id, name, icon_url, category, extension_points, fhir_scopes) = ANY (ARRAY[0, 6]))),
    CONSTRAINT apps_schema_known_check CHECK (((NOT schema_known) OR (ROW(id, name, icon_url, category, extension_points, fhir_scopes) IS NOT NULL))),
    CONSTRAINT apps_slug_check CHECK (((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text) AND ((length(slug) >= 3) AND (length(slug) <= 64)))),
    CONSTRAINT cds_services_url_is_https CHECK (public.is_web_url(cds_services_url)),
    CONSTRAINT icon_url_is_https CHECK (public.is_web_url(icon_url)),
    CONSTRAINT smart_launch_url_is_https CHECK (public.is_web_url(smart_launch_url))
);

COMMENT ON COLUMN public.apps.config_secrets IS 'JSON: pointers to the values of a configuration that only the EHR''s backend reads; null: none';

CREATE TABLE public.audit_entries (
    id uuid NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    actor_issuer text NOT NULL,
    actor_subject text NOT NULL,
    actor_role text NOT NULL,
    on_behalf_of text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL,
    target_kind text NOT NULL,
    target_id text NOT NULL,
    request_id text NOT NULL,
    before json,
    after json
)
PARTITION BY RANGE (at);

CREATE TABLE public.audit_log_retention (
    only_row boolean DEFAULT true NOT NULL,
    least_days integer DEFAULT 2192 NOT NULL,
    CONSTRAINT audit_log_retention_least_days_check CHECK (((least_days >= 1) AND (least_days <= 36500))),
    CONSTRAINT audit_log_retention_only_row_check CHECK (only_row)
);

CREATE TABLE public.client_metadata (
    app_slug text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL,
    metadata text,
    sha256 text,
    etag text,
    fetched_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT client_metadata_check CHECK ((num_nonnulls(metadata, sha256) = ANY (ARRAY[0, 2]))),
    CONSTRAINT client_metadata_check1 CHECK (((outcome <> 'found'::text) OR (metadata IS NOT NULL))),
    CONSTRAINT client_metadata_etag_check CHECK ((length(etag) <= 200)),
    CONSTRAINT client_metadata_metadata_check CHECK ((length(metadata) <= 16384)),
    CONSTRAINT client_metadata_outcome_check CHECK ((outcome = ANY (ARRAY['found'::text, 'absent'::text, 'suspended'::text]))),
    CONSTRAINT client_metadata_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE public.clients (
    id uuid NOT NULL,
    app_slug text NOT NULL COLLATE pg_catalog."C",
    org_alias text COLLATE pg_catalog."C",
    method text NOT NULL,
    status text NOT NULL,
    task text,
    client_id text COLLATE pg_catalog."C",
    registration_uri text,
    encrypted_registration_token text,
    registered_sha256 text,
    attempt text,
    attempted_at timestamp(3) with time zone,
    reason text,
    version uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT clients_attempt_check CHECK ((attempt = ANY (ARRAY['register'::text, 'update'::text, 'remove'::text]))),
    CONSTRAINT clients_attempt_method_check CHECK (((attempt IS NULL) OR (method = 'dcr'::text))),
    CONSTRAINT clients_attempted_at_check CHECK (((attempted_at IS NULL) OR (attempt IS NOT NULL))),
    CONSTRAINT clients_client_id_check CHECK (((length(client_id) >= 1) AND (length(client_id) <= 2048))),
    CONSTRAINT clients_encrypted_registration_token_check CHECK ((encrypted_registration_token ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'::text)),
    CONSTRAINT clients_failed_check CHECK (((status <> 'failed'::text) OR (reason IS NOT NULL))),
    CONSTRAINT clients_managed_check CHECK (((num_nonnulls(registration_uri, encrypted_registration_token) = ANY (ARRAY[0, 2])) AND ((registration_uri IS NULL) OR ((method = 'dcr'::text) AND (client_id IS NOT NULL))))),
    CONSTRAINT clients_method_check CHECK ((method = ANY (ARRAY['cimd'::text, 'dcr'::text, 'manual'::text]))),
    CONSTRAINT clients_ready_check CHECK (((status <> 'ready'::text) OR ((client_id IS NOT NULL) AND (registered_sha256 IS NOT NULL)))),
    CONSTRAINT clients_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 500))),
    CONSTRAINT clients_registered_sha256_check CHECK ((registered_sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT clients_registration_uri_check CHECK ((length(registration_uri) <= 2048)),
    CONSTRAINT clients_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'ready'::text, 'failed'::text, 'uncertain'::text, 'removing'::text]))),
    CONSTRAINT clients_task_check CHECK ((task = ANY (ARRAY['register'::text, 'update'::text, 'remove'::text, 'check'::text]))),
    CONSTRAINT clients_uncertain_check CHECK ((((status = 'uncertain'::text) = (NOT (task IS DISTINCT FROM 'check'::text))) AND ((status <> 'uncertain'::text) OR (num_nonnulls(attempt, attempted_at, reason) = 3))))
);

CREATE TABLE public.differences (
    id uuid NOT NULL,
    org_alias text NOT NULL COLLATE pg_catalog."C",
    subscription_id uuid NOT NULL,
    app_slug text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    pause_reason text,
    fhir_scopes text,
    as_of timestamp(3) with time zone NOT NULL,
    stored_as_of timestamp(3) with time zone NOT NULL,
    found_at timestamp(3) with time zone NOT NULL,
    kept_at timestamp(3) with time zone,
    CONSTRAINT differences_fhir_scopes_check CHECK ((length(fhir_scopes) <= 40000)),
    CONSTRAINT differences_pause_reason_check CHECK ((pause_reason = ANY (ARRAY['NON_PAYMENT'::text, 'OPERATOR_HOLD'::text, 'SECURITY'::text, 'ORG_REQUEST'::text, 'SPEND_LIMIT'::text]))),
    CONSTRAINT differences_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text])))
);

CREATE TABLE public.installations (
    id uuid NOT NULL,
    org_alias text NOT NULL COLLATE pg_catalog."C",
    app_slug text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    subscription_id uuid NOT NULL,
    encrypted_config text,
    config_secrets text,
    installed_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    removed_at timestamp(3) with time zone,
    reported_version uuid,
    CONSTRAINT installations_config_secrets_check CHECK (((config_secrets IS NULL) OR (encrypted_config IS NOT NULL))),
    CONSTRAINT installations_encrypted_config_check CHECK ((encrypted_config ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'::text)),
    CONSTRAINT installations_removed_at_check CHECK (((status = 'removed'::text) = (removed_at IS NOT NULL))),
    CONSTRAINT installations_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'removed'::text])))
);

COMMENT ON COLUMN public.installations.config_secrets IS 'JSON: pointers to the values that were secret when they were stored; a later schema reveals none of them';

CREATE TABLE public.launch_contexts (
    launch_hash bytea NOT NULL,
    launch_id uuid NOT NULL,
    org_alias text NOT NULL COLLATE pg_catalog."C",
    app_slug text NOT NULL COLLATE pg_catalog."C",
    user_subject text NOT NULL,
    patient_id text COLLATE pg_catalog."C",
    encounter_id text COLLATE pg_catalog."C",
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT encounter_id_is_a_fhir_id CHECK ((encounter_id ~ '^[A-Za-z0-9.-]{1,64}$'::text)),
    CONSTRAINT launch_contexts_launch_hash_check CHECK ((length(launch_hash) = 32)),
    CONSTRAINT patient_id_is_a_fhir_id CHECK ((patient_id ~ '^[A-Za-z0-9.-]{1,64}$'::text))
);

CREATE TABLE public.launch_log_retention (
    only_row boolean DEFAULT true NOT NULL,
    least_days integer DEFAULT 2192 NOT NULL,
    CONSTRAINT launch_log_retention_least_days_check CHECK (((least_days >= 1) AND (least_days <= 36500))),
    CONSTRAINT launch_log_retention_only_row_check CHECK (only_row)
);

CREATE TABLE public.launches (
    id uuid NOT NULL,
    org_alias text NOT NULL COLLATE pg_catalog."C",
    app_slug text NOT NULL COLLATE pg_catalog."C",
    launch_type text NOT NULL,
    user_issuer text NOT NULL,
    user_subject text NOT NULL,
    patient_id text COLLATE pg_catalog."C",
    encounter_id text COLLATE pg_catalog."C",
    launched_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT encounter_id_is_a_fhir_id CHECK ((encounter_id ~ '^[A-Za-z0-9.-]{1,64}$'::text)),
    CONSTRAINT launches_launch_type_check CHECK ((launch_type = ANY (ARRAY['native'::text, 'smart'::text, 'standalone'::text]))),
    CONSTRAINT patient_id_is_a_fhir_id CHECK ((patient_id ~ '^[A-Za-z0-9.-]{1,64}$'::text))
)
PARTITION BY RANGE (launched_at);

CREATE TABLE public.marketplace_epoch (
    only_row boolean DEFAULT true NOT NULL,
    system text NOT NULL,
    timeline bigint NOT NULL,
    "position" numeric(20,0) NOT NULL,
    number integer DEFAULT 0 NOT NULL,
    since timestamp(3) with time zone NOT NULL,
    CONSTRAINT marketplace_epoch_only_row_check CHECK (only_row),
    CONSTRAINT marketplace_epoch_system_check CHECK ((system ~ '^[0-9a-f]{16}$'::text))
);

CREATE TABLE public.organisations (
    alias text NOT NULL COLLATE pg_catalog."C",
    encrypted_secret text NOT NULL,
    encrypted_previous_secret text,
    previous_until timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    reconciled_at timestamp(3) with time zone,
    app_fetches_until timestamp(3) with time zone,
    quarantine_checked_at timestamp(3) with time zone,
    unlisted integer DEFAULT 0 NOT NULL,
    CONSTRAINT organisations_alias_check CHECK ((alias ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'::text)),
    CONSTRAINT organisations_encrypted_previous_secret_check CHECK ((encrypted_previous_secret ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'::text)),
    CONSTRAINT organisations_encrypted_secret_check CHECK ((encrypted_secret ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'::text)),
    CONSTRAINT organisations_previous_until_check CHECK (((encrypted_previous_secret IS NULL) = (previous_until IS NULL))),
    CONSTRAINT organisations_unlisted_check CHECK ((unlisted >= 0))
);

CREATE TABLE public.schema_migrations (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    run_on timestamp without time zone NOT NULL
);

CREATE SEQUENCE public.schema_migrations_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.schema_migrations_id_seq OWNED BY public.schema_migrations.id;

CREATE TABLE public.subscriptions (
    org_alias text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    app_slug text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    as_of timestamp(3) with time zone NOT NULL,
    confirmed_at timestamp(3) with time zone,
    listed_at timestamp(3) with time zone,
    fhir_scopes text,
    epoch integer DEFAULT 0 NOT NULL,
    pause_reason text,
    CONSTRAINT subscriptions_fhir_scopes_check CHECK ((length(fhir_scopes) <= 40000)),
    CONSTRAINT subscriptions_pause_reason_check CHECK ((pause_reason = ANY (ARRAY['NON_PAYMENT'::text, 'OPERATOR_HOLD'::text, 'SECURITY'::text, 'ORG_REQUEST'::text, 'SPEND_LIMIT'::text]))),
    CONSTRAINT subscriptions_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'cancelled'::text])))
);

ALTER TABLE ONLY public.schema_migrations ALTER COLUMN id SET DEFAULT nextval('public.schema_migrations_id_seq'::regclass);

ALTER TABLE ONLY public.applied_deliveries
    ADD CONSTRAINT applied_deliveries_pkey PRIMARY KEY (org_alias, delivery_id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (slug);

ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (at, id);

ALTER TABLE ONLY public.audit_log_retention
    ADD CONSTRAINT audit_log_retention_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.client_metadata
    ADD CONSTRAINT client_metadata_pkey PRIMARY KEY (app_slug);

ALTER TABLE ONLY public.clients
    ADD CONSTRAINT clients_client_id_key UNIQUE (client_id);

ALTER TABLE ONLY public.clients
    ADD CONSTRAINT clients_of_app UNIQUE NULLS NOT DISTINCT (app_slug, org_alias);

ALTER TABLE ONLY public.clients
    ADD CONSTRAINT clients_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.differences
    ADD CONSTRAINT differences_org_alias_subscription_id_key UNIQUE (org_alias, subscription_id);

ALTER TABLE ONLY public.differences
    ADD CONSTRAINT differences_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.installations
    ADD CONSTRAINT installations_org_alias_app_slug_key UNIQUE (org_alias, app_slug);

ALTER TABLE ONLY public.installations
    ADD CONSTRAINT installations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.launch_contexts
    ADD CONSTRAINT launch_contexts_pkey PRIMARY KEY (launch_hash);

ALTER TABLE ONLY public.launch_log_retention
    ADD CONSTRAINT launch_log_retention_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.launches
    ADD CONSTRAINT launches_pkey PRIMARY KEY (launched_at, id);

ALTER TABLE ONLY public.marketplace_epoch
    ADD CONSTRAINT marketplace_epoch_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.organisations
    ADD CONSTRAINT organisations_pkey PRIMARY KEY (alias);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (org_alias, id);

CREATE INDEX applied_deliveries_old ON public.applied_deliveries USING btree (applied_at);

CREATE INDEX apps_to_fetch ON public.apps USING btree (fetched_at NULLS FIRST, slug);

CREATE INDEX audit_entries_of_action ON ONLY public.audit_entries USING btree (action, at, id);

CREATE INDEX audit_entries_of_actor ON ONLY public.audit_entries USING btree (actor_subject, at, id);

CREATE INDEX audit_entries_on_behalf_of ON ONLY public.audit_entries USING btree (on_behalf_of, at, id);

CREATE INDEX clients_by_status ON public.clients USING btree (status, created_at, id);

CREATE INDEX clients_newest ON public.clients USING btree (created_at, id);

CREATE INDEX clients_with_tasks ON public.clients USING btree (created_at, id) WHERE (task IS NOT NULL);

CREATE INDEX differences_newest ON public.differences USING btree (found_at, id);

CREATE INDEX installations_of_app_by_alias ON public.installations USING btree (app_slug, org_alias);

CREATE INDEX installations_removed ON public.installations USING btree (removed_at) WHERE (status = 'removed'::text);

CREATE INDEX launch_contexts_expired ON public.launch_contexts USING btree (expires_at);

CREATE INDEX launches_of_app ON ONLY public.launches USING btree (org_alias, app_slug, launched_at DESC, id DESC);

CREATE INDEX organisations_longest_unreconciled ON public.organisations USING btree (COALESCE(reconciled_at, created_at));

CREATE INDEX organisations_overlapping ON public.organisations USING btree (previous_until) WHERE (previous_until IS NOT NULL);

CREATE INDEX organisations_unlisted ON public.organisations USING btree (unlisted) WHERE (unlisted > 0);

CREATE INDEX subscriptions_live ON public.subscriptions USING btree (org_alias, app_slug, as_of DESC) WHERE (status <> 'cancelled'::text);

CREATE INDEX subscriptions_never_listed ON public.subscriptions USING btree (app_slug, org_alias) WHERE ((listed_at IS NULL) AND (status <> 'cancelled'::text));

CREATE INDEX subscriptions_unconfirmed ON public.subscriptions USING btree (org_alias, app_slug) WHERE ((confirmed_at IS NULL) AND (status <> 'cancelled'::text));

CREATE INDEX subscriptions_unconfirmed_of_app ON public.subscriptions USING btree (app_slug, org_alias) WHERE ((confirmed_at IS NULL) AND (status <> 'cancelled'::text));

CREATE TRIGGER apps_changed AFTER UPDATE ON public.apps FOR EACH ROW WHEN (((((((((((old.id IS DISTINCT FROM new.id) OR (old.name IS DISTINCT FROM new.name)) OR (old.icon_url IS DISTINCT FROM new.icon_url)) OR (old.category IS DISTINCT FROM new.category)) OR (old.extension_points IS DISTINCT FROM new.extension_points)) OR (old.smart_launch_url IS DISTINCT FROM new.smart_launch_url)) OR (old.cds_services_url IS DISTINCT FROM new.cds_services_url)) OR (old.fhir_scopes IS DISTINCT FROM new.fhir_scopes)) OR (old.config_secrets IS DISTINCT FROM new.config_secrets)) OR (old.schema_known IS DISTINCT FROM new.schema_known))) EXECUTE FUNCTION public.apps_changed();

CREATE TRIGGER audit_entries_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION public.audit_entries_reject_changes();

CREATE TRIGGER clients_changed AFTER INSERT OR DELETE ON public.clients FOR EACH ROW EXECUTE FUNCTION public.clients_changed();

CREATE TRIGGER clients_updated AFTER UPDATE ON public.clients FOR EACH ROW WHEN ((((old.status IS DISTINCT FROM new.status) OR (old.client_id IS DISTINCT FROM new.client_id)) OR (old.reason IS DISTINCT FROM new.reason))) EXECUTE FUNCTION public.clients_changed();

CREATE TRIGGER installations_changed AFTER INSERT OR DELETE ON public.installations FOR EACH ROW EXECUTE FUNCTION public.installations_changed();

CREATE TRIGGER installations_updated AFTER UPDATE ON public.installations FOR EACH ROW WHEN (((old.updated_at IS DISTINCT FROM new.updated_at) OR (NOT (old.reported_version IS DISTINCT FROM new.reported_version)))) EXECUTE FUNCTION public.installations_changed();

CREATE TRIGGER launches_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON public.launches FOR EACH STATEMENT EXECUTE FUNCTION public.launches_reject_changes();

CREATE TRIGGER subscriptions_scopes_changed AFTER UPDATE ON public.subscriptions FOR EACH ROW WHEN ((old.fhir_scopes IS DISTINCT FROM new.fhir_scopes)) EXECUTE FUNCTION public.installations_changed();

ALTER TABLE ONLY public.applied_deliveries
    ADD CONSTRAINT applied_deliveries_org_alias_fkey FOREIGN KEY (org_alias) REFERENCES public.organisations(alias);

ALTER TABLE ONLY public.client_metadata
    ADD CONSTRAINT client_metadata_app_slug_fkey FOREIGN KEY (app_slug) REFERENCES public.apps(slug);

ALTER TABLE ONLY public.clients
    ADD CONSTRAINT clients_app_slug_fkey FOREIGN KEY (app_slug) REFERENCES public.apps(slug);

ALTER TABLE ONLY public.clients
    ADD CONSTRAINT clients_org_alias_fkey FOREIGN KEY (org_alias) REFERENCES public.organisations(alias);

ALTER TABLE ONLY public.differences
    ADD CONSTRAINT differences_org_alias_subscription_id_fkey FOREIGN KEY (org_alias, subscription_id) REFERENCES public.subscriptions(org_alias, id);

ALTER TABLE ONLY public.installations
    ADD CONSTRAINT installations_app_slug_fkey FOREIGN KEY (app_slug) REFERENCES public.apps(slug);

ALTER TABLE ONLY public.installations
    ADD CONSTRAINT installations_org_alias_fkey FOREIGN KEY (org_alias) REFERENCES public.organisations(alias);

ALTER TABLE ONLY public.installations
    ADD CONSTRAINT installations_org_alias_subscription_id_fkey FOREIGN KEY (org_alias, subscription_id) REFERENCES public.subscriptions(org_alias, id);

ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_app_slug_fkey FOREIGN KEY (app_slug) REFERENCES public.apps(slug);

ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_org_alias_fkey FOREIGN KEY (org_alias) REFERENCES public.organisations(alias);

GRANT USAGE ON SCHEMA public TO ehr_service;

REVOKE ALL ON FUNCTION public.drop_oldest_audit_entries(today date, kept_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_oldest_audit_entries(today date, kept_days integer) TO ehr_service;

REVOKE ALL ON FUNCTION public.drop_oldest_launches(today date, kept_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_oldest_launches(today date, kept_days integer) TO ehr_service;

REVOKE ALL ON FUNCTION public.prepare_audit_partitions(today date) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prepare_audit_partitions(today date) TO ehr_service;

REVOKE ALL ON FUNCTION public.prepare_launch_partitions(today date) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prepare_launch_partitions(today date) TO ehr_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.applied_deliveries TO ehr_service;

GRANT SELECT,INSERT,UPDATE ON TABLE public.apps TO ehr_service;

GRANT SELECT,INSERT ON TABLE public.audit_entries TO ehr_service;

GRANT SELECT ON TABLE public.audit_log_retention TO ehr_service;

GRANT SELECT,INSERT ON TABLE public.client_metadata TO ehr_service;

GRANT UPDATE(outcome) ON TABLE public.client_metadata TO ehr_service;

GRANT UPDATE(metadata) ON TABLE public.client_metadata TO ehr_service;

GRANT UPDATE(sha256) ON TABLE public.client_metadata TO ehr_service;

GRANT UPDATE(etag) ON TABLE public.client_metadata TO ehr_service;

GRANT UPDATE(fetched_at) ON TABLE public.client_metadata TO ehr_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.clients TO ehr_service;

GRANT UPDATE(method) ON TABLE public.clients TO ehr_service;

GRANT UPDATE(status) ON TABLE public.clients TO ehr_service;

GRANT UPDATE(task) ON TABLE public.clients TO ehr_service;

GRANT UPDATE(client_id) ON TABLE public.clients TO ehr_service;

GRANT UPDATE(registration_uri) ON TABLE public.clients TO ehr_service;

GRANT UPDATE(encrypted_registration_token) ON TABLE public.clients TO ehr_service;

GRANT UPDATE(registered_sha256) ON TABLE public.clients TO ehr_service;

GRANT UPDATE(attempt) ON TABLE public.clients TO ehr_service;

GRANT UPDATE(attempted_at) ON TABLE public.clients TO ehr_service;

GRANT UPDATE(reason) ON TABLE public.clients TO ehr_service;

GRANT UPDATE(version) ON TABLE public.clients TO ehr_service;

GRANT UPDATE(updated_at) ON TABLE public.clients TO ehr_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.differences TO ehr_service;

GRANT UPDATE(id) ON TABLE public.differences TO ehr_service;

GRANT UPDATE(app_slug) ON TABLE public.differences TO ehr_service;

GRANT UPDATE(status) ON TABLE public.differences TO ehr_service;

GRANT UPDATE(pause_reason) ON TABLE public.differences TO ehr_service;

GRANT UPDATE(fhir_scopes) ON TABLE public.differences TO ehr_service;

GRANT UPDATE(as_of) ON TABLE public.differences TO ehr_service;

GRANT UPDATE(stored_as_of) ON TABLE public.differences TO ehr_service;

GRANT UPDATE(found_at) ON TABLE public.differences TO ehr_service;

GRANT UPDATE(kept_at) ON TABLE public.differences TO ehr_service;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.installations TO ehr_service;

GRANT SELECT,INSERT,DELETE ON TABLE public.launch_contexts TO ehr_service;

GRANT SELECT ON TABLE public.launch_log_retention TO ehr_service;

GRANT SELECT,INSERT ON TABLE public.launches TO ehr_service;

GRANT SELECT,INSERT ON TABLE public.marketplace_epoch TO ehr_service;

GRANT UPDATE(system) ON TABLE public.marketplace_epoch TO ehr_service;

GRANT UPDATE(timeline) ON TABLE public.marketplace_epoch TO ehr_service;

GRANT UPDATE("position") ON TABLE public.marketplace_epoch TO ehr_service;

GRANT UPDATE(number) ON TABLE public.marketplace_epoch TO ehr_service;

GRANT UPDATE(since) ON TABLE public.marketplace_epoch TO ehr_service;

GRANT SELECT,INSERT ON TABLE public.organisations TO ehr_service;

GRANT UPDATE(encrypted_secret) ON TABLE public.organisations TO ehr_service;

GRANT UPDATE(encrypted_previous_secret) ON TABLE public.organisations TO ehr_service;

GRANT UPDATE(previous_until) ON TABLE public.organisations TO ehr_service;

GRANT UPDATE(updated_at) ON TABLE public.organisations TO ehr_service;

GRANT UPDATE(reconciled_at) ON TABLE public.organisations TO ehr_service;

GRANT UPDATE(app_fetches_until) ON TABLE public.organisations TO ehr_service;

GRANT UPDATE(quarantine_checked_at) ON TABLE public.organisations TO ehr_service;

GRANT UPDATE(unlisted) ON TABLE public.organisations TO ehr_service;

GRANT SELECT ON TABLE public.schema_migrations TO ehr_service;

GRANT SELECT,INSERT,UPDATE ON TABLE public.subscriptions TO ehr_service;

