-- A vendor deletes the draft of what was never submitted.

-- EHRs and authorization servers know a sandbox app by its slug. So the slug of a draft that was installed is no other app's.
create table deleted_drafts (
  app_id uuid primary key,
  slug text not null unique,
  deleted_at timestamptz not null
);
grant select on deleted_drafts to marketplace_service;

-- The sandbox app stays, because its ended subscriptions are records. `sandbox_of` then names a row of deleted_drafts.
alter table apps drop constraint apps_sandbox_of_fkey;

-- A file's row stays until its object is deleted.
alter table media
  -- squawk-ignore ban-drop-not-null
  alter column app_id drop not null,
  drop constraint media_app_id_fkey,
  add constraint media_app_id_fkey foreign key (app_id) references listings on delete set null not valid;

-- Everything that changes a listing locks it first. Checks again what the service has checked.
create function delete_draft(given_listing uuid, given_at timestamptz) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from listings where app_id = given_listing for update;
  if exists (select from revisions where app_id = given_listing) then
    raise exception 'listing % was submitted', given_listing using errcode = 'restrict_violation';
  end if;
  if exists (
    select from subscriptions join apps on apps.id = subscriptions.app_id
    where apps.sandbox_of = given_listing and subscriptions.status <> 'cancelled'
  ) then
    raise exception 'listing % is installed in a sandbox', given_listing using errcode = 'restrict_violation';
  end if;
  -- An upload in progress stores its object later: the daily job deletes that one, which nothing uses.
  update media set deleting_at = given_at where app_id = given_listing and deleting_at is null and stored_at is not null;
  delete from draft_editors where app_id = given_listing;
  delete from cds_discoveries where app_id = given_listing;
  insert into deleted_drafts (app_id, slug, deleted_at)
  select app_id, slug, given_at from listings
  where app_id = given_listing and exists (select from apps where sandbox_of = given_listing);
  delete from listings where app_id = given_listing;
end
$$;
revoke execute on function delete_draft(uuid, timestamptz) from public;
grant execute on function delete_draft(uuid, timestamptz) to marketplace_service;

-- Operators list the apps of all vendors.
create index listings_by_creation on listings (created_at, app_id);
