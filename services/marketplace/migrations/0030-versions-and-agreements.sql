-- What the public reads of vendors and of earlier revisions.

-- The apps of a vendor, and their number, also in one category.
create index apps_published_of_vendor on apps (vendor_id, category, id) where status = 'published';

-- The published revisions of an app, however many others it has.
create index reviews_approved on reviews (app_id, number) where decision = 'approved';
