CREATE SCHEMA web;

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

CREATE TABLE web.sessions (
    id uuid NOT NULL,
    cookie_hash bytea NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    provider_session text,
    encrypted_tokens text NOT NULL,
    access_expires_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    used_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT sessions_are_used_after_they_begin CHECK ((used_at >= created_at)),
    CONSTRAINT sessions_cookie_hash_check CHECK ((length(cookie_hash) = 32)),
    CONSTRAINT sessions_encrypted_tokens_check CHECK ((encrypted_tokens ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'::text))
);

ALTER TABLE ONLY public.schema_migrations ALTER COLUMN id SET DEFAULT nextval('public.schema_migrations_id_seq'::regclass);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY web.sessions
    ADD CONSTRAINT sessions_cookie_hash_key UNIQUE (cookie_hash);

ALTER TABLE ONLY web.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);

CREATE INDEX sessions_by_begin ON web.sessions USING btree (created_at);

CREATE INDEX sessions_by_use ON web.sessions USING btree (used_at);

CREATE INDEX sessions_of_provider_session ON web.sessions USING btree (provider_session) WHERE (provider_session IS NOT NULL);

CREATE INDEX sessions_of_subject ON web.sessions USING btree (subject, issuer);

GRANT USAGE ON SCHEMA public TO web_service;

GRANT USAGE ON SCHEMA web TO web_service;

GRANT SELECT ON TABLE public.schema_migrations TO web_service;

GRANT SELECT,INSERT,DELETE ON TABLE web.sessions TO web_service;

GRANT UPDATE(encrypted_tokens) ON TABLE web.sessions TO web_service;

GRANT UPDATE(access_expires_at) ON TABLE web.sessions TO web_service;

GRANT UPDATE(used_at) ON TABLE web.sessions TO web_service;

