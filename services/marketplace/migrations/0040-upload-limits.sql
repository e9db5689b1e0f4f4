-- The bytes as they were sent, so that a file that is sent again isn't decoded again. Null for older files.
alter table media add column source_sha256 text check (source_sha256 ~ '^[0-9a-f]{64}$');
create index media_by_source on media (app_id, kind, source_sha256) where deleting_at is null and source_sha256 is not null;
grant insert (source_sha256) on media to marketplace_service;

-- Files that couldn't be used, or that were another one's copy, count toward a vendor's uploads of the day, because decoding them costs as
-- much.
create table unstored_uploads (
  vendor_id uuid not null references vendors,
  sent_at timestamptz not null
);
create index unstored_uploads_by_vendor on unstored_uploads (vendor_id, sent_at);
grant select, insert, delete on unstored_uploads to marketplace_service;
