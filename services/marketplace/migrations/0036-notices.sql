-- Notices: what a person should know or do; and the mails about them. Never about a patient.

create table notices (
  id uuid primary key,
  -- 'operators', 'organisation:' and an id, or 'vendor:' and an id. No foreign keys: the check of one would lock the organisation's row.
  audience text collate "C" not null check (audience ~ '^(operators|(organisation|vendor):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$'),
  kind text not null check (kind in (
    'scopes-pending', 'spend-limit', 'app-suspended', 'endpoint-held', 'endpoint-disabled', 'review-decided', 'review-due',
    'connection-failed'
  )),
  severity text not null check (severity in ('info', 'warning', 'critical')),
  -- They contain names that strangers choose, and become headers and lines of mails.
  subject text not null check (length(subject) between 1 and 200 and subject !~ '[[:cntrl:]]'),
  detail text not null check (length(detail) between 1 and 1000 and detail !~ '[[:cntrl:]]'),
  link text not null check (link ~ '^/api/v1/[A-Za-z0-9/._?=&%-]+$' and length(link) <= 500),
  -- What it is about: the audience is told of it once.
  key text collate "C" not null check (length(key) between 1 and 200),
  created_at timestamptz(3) not null,
  read_at timestamptz(3),
  -- The digest that lists it; null if it has a mail of its own, or none
  digest_at timestamptz(3),
  unique (audience, key)
);
create index notices_of_audience on notices (audience, created_at, id);
create index notices_unread on notices (audience, created_at, id) where read_at is null;
create index notices_of_digest on notices (audience, digest_at, id) where digest_at is not null;
create index notices_by_age on notices (created_at);
create index notices_read_by_age on notices (created_at) where read_at is not null;
grant select, insert, delete on notices to marketplace_service;
grant update (read_at) on notices to marketplace_service;

-- Where an audience gets its mails, and about what not. Without a row, or without an address, nothing is mailed.
create table notice_settings (
  audience text collate "C" primary key
    check (audience ~ '^(operators|(organisation|vendor):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$'),
  email text check (length(email) <= 254 and email !~ '[[:cntrl:][:space:]]'),
  muted_kinds text[] not null default '{}' check (muted_kinds <@ array[
    'scopes-pending', 'spend-limit', 'app-suspended', 'endpoint-held', 'endpoint-disabled', 'review-decided', 'review-due',
    'connection-failed'
  ]),
  updated_at timestamptz(3) not null
);
grant select, insert on notice_settings to marketplace_service;
grant update (email, muted_kinds, updated_at) on notice_settings to marketplace_service;

-- Mails to send: of one notice, whose id the mail has, or a day's digest.
create table notice_mails (
  id uuid primary key,
  audience text collate "C" not null,
  digest_at timestamptz(3),
  created_at timestamptz(3) not null,
  -- When it is tried next. A worker that takes it sets it to the end of its lease.
  due_at timestamptz(3) not null,
  attempts integer not null default 0 check (attempts >= 0),
  -- When it is given up
  expires_at timestamptz(3) not null,
  -- dropped: nobody wanted it any more
  outcome text check (outcome in ('sent', 'failed', 'dropped')),
  settled_at timestamptz(3),
  unique (audience, digest_at),
  check ((outcome is null) = (settled_at is null))
);
create index notice_mails_due on notice_mails (due_at, id) where settled_at is null;
create index notice_mails_settled on notice_mails (settled_at) where settled_at is not null;
create index notice_mails_expiring on notice_mails (expires_at) where settled_at is null;
-- How many mails an audience had in the last hour, besides digests
create index notice_mails_of_audience on notice_mails (audience, created_at) where digest_at is null;
grant select, insert, delete on notice_mails to marketplace_service;
grant update (due_at, attempts, outcome, settled_at) on notice_mails to marketplace_service;

-- Published revisions whose subscribers have yet to be told of added scopes: a job walks through them in batches.
create table scope_notice_walks (
  app_id uuid primary key references listings,
  -- Of the published revision
  revision integer not null check (revision > 0),
  published_at timestamptz(3) not null,
  -- The last subscription of the last batch
  cursor_at timestamptz(3),
  cursor_id uuid
);
grant select, insert, delete on scope_notice_walks to marketplace_service;
grant update (revision, published_at, cursor_at, cursor_id) on scope_notice_walks to marketplace_service;
