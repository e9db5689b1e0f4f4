-- The commission of a month is that of its start, so what was agreed before has to stay known. What is agreed now is in `vendors`.
create table ended_commissions (
  vendor_id uuid not null references vendors,
  ended_at timestamptz not null,
  commission_percent numeric(5, 2) not null,
  primary key (vendor_id, ended_at)
);
-- Only the trigger inserts, so that nobody rewrites the past.
grant select on ended_commissions to marketplace_service;

create function vendors_record_ended_commission() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into ended_commissions (vendor_id, ended_at, commission_percent)
  values (new.id, new.updated_at, old.commission_percent)
  on conflict do nothing;
  return null;
end
$$;
revoke execute on function vendors_record_ended_commission() from public;
create trigger vendors_record_ended_commission after update of commission_percent on vendors
  for each row when (old.commission_percent <> new.commission_percent)
  execute function vendors_record_ended_commission();
