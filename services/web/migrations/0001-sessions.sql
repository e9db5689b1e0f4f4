-- The sessions of browsers.

do $$ begin
  create role web_service nologin;
exception when duplicate_object or unique_violation then null;
end $$;
revoke create on schema public from public;
grant usage on schema public to web_service;
grant select on schema_migrations to web_service;

create schema web;
grant usage on schema web to web_service;

create table web.sessions (
  id uuid primary key,
  -- SHA-256 of the cookie: a reader of this table can't use a session
  cookie_hash bytea not null unique check (length(cookie_hash) = 32),
  -- The identity provider's names of the user and of its own session
  issuer text not null,
  subject text not null,
  provider_session text,
  -- The version of the key, a dot, and the encrypted tokens
  encrypted_tokens text not null check (encrypted_tokens ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'),
  access_expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  used_at timestamptz(3) not null,
  constraint sessions_are_used_after_they_begin check (used_at >= created_at)
);
-- Sign-out by the identity provider, and everywhere
create index sessions_of_subject on web.sessions (subject, issuer);
create index sessions_of_provider_session on web.sessions (provider_session) where provider_session is not null;
-- Deletion of those that are over
create index sessions_by_use on web.sessions (used_at);
create index sessions_by_begin on web.sessions (created_at);

grant select, insert, delete on web.sessions to web_service;
grant update (encrypted_tokens, access_expires_at, used_at) on web.sessions to web_service;
