-- The slug of a sandbox app is `sandbox-` and the slug of its listing, which has at most 64 characters.
alter table apps drop constraint apps_slug_check;
alter table apps add constraint apps_slug_check
  check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) between 3 and 72);
