-- As `cds:` extension points name them
create function are_hook_names(names text[]) returns boolean language sql immutable parallel safe return
  not exists (
    select from unnest(names) as each (name)
    where (length(each.name) <= 96 and each.name ~ '^[a-z]+(-[a-z]+)*$') is not true
  );

-- What the discovery URL of a draft's CDS Hooks services returned when the draft was last installed in a sandbox organisation.
create table cds_discoveries (
  app_id uuid primary key references listings,
  url text not null check (is_web_url(url)),
  requested_at timestamptz(3) not null,
  -- The hooks that services are for, each once. Other content of the response isn't stored.
  hooks text[] check (cardinality(hooks) <= 100 and are_hook_names(hooks)),
  -- Why they aren't known, in words of this service
  failure text check (failure ~ '^[ -~]{1,200}$'),
  constraint cds_discoveries_result_check check (num_nonnulls(hooks, failure) = 1)
);
grant select, insert on cds_discoveries to marketplace_service;
grant update (url, requested_at, hooks, failure) on cds_discoveries to marketplace_service;
