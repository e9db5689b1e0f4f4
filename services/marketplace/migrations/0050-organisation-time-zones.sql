-- Pages show times in the time zone of the organisation, as an IANA name. The service checks that it is one: PostgreSQL may know others than
-- the runtime. Processes of the previous version insert the default.
alter table organisations
  add column time_zone text not null default 'UTC' check (length(time_zone) between 1 and 64);
grant update (time_zone) on organisations to marketplace_service;
