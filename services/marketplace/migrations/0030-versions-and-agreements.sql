-- What the public reads of vendors and of earlier revisions; the roles of those who agree to scopes and BAAs.

-- The apps of a vendor, and their number, also in one category.
create index apps_published_of_vendor on apps (vendor_id, category, id) where status = 'published';

-- The published revisions of an app, however many others it has.
create index reviews_approved on reviews (app_id, number) where decision = 'approved';

-- In which role the person agreed: operators may agree for an organisation. Null if it was not recorded.
alter table scope_agreements add column role text check (role in ('org-admin', 'operator'));
alter table baa_agreements add column role text check (role in ('org-admin', 'operator'));
