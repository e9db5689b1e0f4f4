-- Records of usage are their own evidence: who sent them, with which request, and when one was taken back. A batch leaves no audit entry.
-- Null for what was reported before.
alter table usage_records
  add column request_id text,
  add column caller_issuer text,
  add column caller_subject text,
  add column voided_at timestamptz(3),
  add check (voided_at is null or voided);
grant update (voided_at) on usage_records to marketplace_service;

create function usage_records_reject_changes() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if old.voided or not new.voided or new.voided_at is null then
    raise exception 'a record of usage is voided once, and nothing else of it changes' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger usage_records_reject_changes before update on usage_records
  for each row execute function usage_records_reject_changes();
