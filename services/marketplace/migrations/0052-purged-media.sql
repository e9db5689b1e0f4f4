-- Files that an operator has purged. `deleting_at` is set, too: so nothing shows or uses them, also in processes of the previous version.
-- The row stays, because revisions refer to it, and so that the same file is refused when its vendor uploads it again.
alter table media
  add column purged_at timestamptz,
  add constraint media_purged_is_deleting check (purged_at is null or deleting_at is not null) not valid;
grant update (purged_at) on media to marketplace_service;
create index media_by_sha256 on media (vendor_id, sha256);
create index media_by_source_sha256 on media (vendor_id, source_sha256) where source_sha256 is not null;

create function media_keep_purged() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or new.purged_at is distinct from old.purged_at then
    raise exception 'media % is purged for ever', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger media_keep_purged before delete or update of purged_at on media
  for each row when (old.purged_at is not null) execute function media_keep_purged();

-- Takes purged files out of the catalog: another icon instead, and one screenshot less. Documents stay named, and can't be read: practices
-- have accepted them. URLs end with the file's id.
create function remove_purged_media(purged uuid[], given_icon_url text) returns void
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  update apps set
    icon_url = case when lower(right(icon_url, 36)) = any (purged::text[]) then given_icon_url else icon_url end,
    screenshots = array(
      select url from unnest(screenshots) with ordinality as shot (url, position)
      where lower(right(url, 36)) <> all (purged::text[]) order by position
    ),
    screenshot_texts = array(
      select coalesce(description, '') from unnest(screenshots, screenshot_texts) with ordinality as shot (url, description, position)
      where lower(right(url, 36)) <> all (purged::text[]) order by position
    )
  where id in (select app_id from media where id = any (purged) and purged_at is not null)
    and (
      lower(right(icon_url, 36)) = any (purged::text[])
      or exists (select from unnest(screenshots) as url where lower(right(url, 36)) = any (purged::text[]))
    );
$$;
revoke all on function remove_purged_media from public;
grant execute on function remove_purged_media to marketplace_service;
