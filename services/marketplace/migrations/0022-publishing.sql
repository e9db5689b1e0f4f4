-- The way into the catalog: vendors that operators register, and the drafts of their listings.

alter table vendors
  add column support_email text check (length(support_email) <= 254),
  add column security_contact text check (length(security_contact) <= 2048),
  add column commission_percent numeric(5, 2) not null default 0 check (commission_percent between 0 and 100);
grant select, insert on vendors to marketplace_service;
grant update (name, website_url, support_email, security_contact, commission_percent, updated_at) on vendors
  to marketplace_service;

-- The public catalog is derived by triggers. The service changes what it is derived from, and nothing else of it: so these run with
-- the owner's rights. No one else may execute them, or a trigger on a caller's own table could.
alter function refresh_apps_of_changed_vendors() security definer set search_path = pg_catalog, public, pg_temp;
revoke execute on function refresh_apps_of_changed_vendors() from public;

-- A listing is what a vendor publishes: one draft, and revisions of it. `app_id` is the id that the public app has or will have.
create table listings (
  app_id uuid primary key,
  slug text not null unique check (
    slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'
    and length(slug) between 3 and 64
    and slug not in ('search', 'featured', 'categories')
  ),
  vendor_id uuid not null references vendors,
  -- json, not jsonb: the order of a config schema's keys is the vendor's
  draft json not null check (json_typeof(draft) = 'object'),
  encrypted_review_notes text,
  version integer not null default 1 check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index listings_by_vendor on listings (vendor_id, created_at, app_id);
grant select, insert on listings to marketplace_service;
grant update (draft, encrypted_review_notes, version, updated_at) on listings to marketplace_service;

-- Who changed the draft, and the version that their last change made. They can't approve a revision of it.
create table draft_editors (
  app_id uuid references listings,
  issuer text,
  subject text,
  version integer not null,
  primary key (app_id, issuer, subject)
);
grant select, insert, delete on draft_editors to marketplace_service;
grant update (version) on draft_editors to marketplace_service;

grant select on extension_points to marketplace_service;
