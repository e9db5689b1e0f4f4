-- Notices lead to pages of the web, and there are more kinds of them.

-- A page of the web, such as '/practice/a-clinic/subscriptions?open=…'; null if there is no page for what it is about. Processes of the previous
-- version still record paths of the API, which are shown as null.
alter table notices
  -- squawk-ignore ban-drop-not-null
  alter column link drop not null,
  drop constraint notices_link_check,
  add constraint notices_link_check check (link ~ '^/[a-z][A-Za-z0-9/._?=&%-]*$' and length(link) <= 500) not valid;
update notices
  set link = '/practice/' || organisations.alias || '/subscriptions?open=' || substring(link from '^/api/v1/subscriptions/([0-9a-f-]{36})')
  from organisations
  where notices.audience = 'organisation:' || organisations.id and link ~ '^/api/v1/subscriptions/[0-9a-f-]{36}';
update notices set link = null where link ~ '^/api/';

-- Which kinds there are says the API's contract: a new one needs no migration.
alter table notices drop constraint notices_kind_check, add constraint notices_kind_check check (kind ~ '^[a-z]+(-[a-z]+)*$') not valid;
alter table notice_settings
  drop constraint notice_settings_muted_kinds_check,
  add constraint notice_settings_muted_kinds_check check (cardinality(muted_kinds) <= 50) not valid;

-- Suspended apps whose subscribers have yet to be told: a job walks through them in batches.
create table suspension_notice_walks (
  app_id uuid primary key references listings,
  suspended_at timestamptz(3) not null,
  -- The last subscription of the last batch
  cursor_at timestamptz(3),
  cursor_id uuid
);
grant select, insert, delete on suspension_notice_walks to marketplace_service;
grant update (suspended_at, cursor_at, cursor_id) on suspension_notice_walks to marketplace_service;
