-- Files that vendors upload for their listings: icons, screenshots and documents. The bytes are in a bucket or a folder, not here.

-- A row exists before its object does, and until after the object is deleted: so every object has a row, whenever a process dies.
create table media (
  id uuid primary key,
  vendor_id uuid not null references vendors,
  app_id uuid not null references listings,
  kind text not null check (kind in ('ICON', 'SCREENSHOT', 'DOCUMENT')),
  object_key text not null unique check (length(object_key) <= 200),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  content_type text not null check (content_type in ('image/png', 'image/webp', 'application/pdf')),
  bytes integer not null check (bytes > 0),
  width integer check (width > 0),
  height integer check (height > 0),
  created_at timestamptz not null,
  -- Null until the object is stored.
  stored_at timestamptz,
  -- Null until a revision with it is published. From then on, anyone can read it.
  published_at timestamptz,
  -- Since when nothing refers to it; null while something does. The daily job sets it.
  unused_since timestamptz,
  -- Set before the object is deleted. Nothing may refer to the row from then on.
  deleting_at timestamptz,
  check ((width is null) = (height is null))
);
-- The same file, uploaded again, is the same row.
create unique index media_by_content on media (app_id, kind, sha256) where deleting_at is null;
create index media_by_vendor on media (vendor_id, created_at);
create index media_unused on media (unused_since) where deleting_at is null and published_at is null;
create index media_to_delete on media (id) where deleting_at is not null;
grant select, insert, delete on media to marketplace_service;
grant update (stored_at, published_at, unused_since, deleting_at) on media to marketplace_service;

-- What refers to media. `media_id` is text: a draft may contain an id that no media has.
create view used_media as
select app_id, lower(draft ->> 'icon') as media_id from listings where draft ->> 'icon' is not null
union all
select app_id, lower(screenshot ->> 'media')
from listings,
  json_array_elements(case json_typeof(draft -> 'screenshots') when 'array' then draft -> 'screenshots' else '[]' end) as screenshot
where screenshot ->> 'media' is not null
union all
select app_id, lower(draft ->> 'baaDocument') from listings where draft ->> 'baaDocument' is not null
union all
select app_id, lower(draft #>> '{trust,ai,modelCard}') from listings where draft #>> '{trust,ai,modelCard}' is not null;
grant select on used_media to marketplace_service;
