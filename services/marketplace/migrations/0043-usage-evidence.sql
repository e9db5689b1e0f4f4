-- Records of usage are their own evidence: who sent them, with which request, and who has taken one back and when. A batch leaves no audit
-- entry. Null for what was reported before.
alter table usage_records
  add column request_id text,
  add column caller_issuer text,
  add column caller_subject text,
  add column voided_at timestamptz(3),
  add column void_request_id text,
  add column void_issuer text,
  add column void_subject text;
grant update (voided_at, void_request_id, void_issuer, void_subject) on usage_records to marketplace_service;

create function usage_records_reject_changes() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if old.voided or not new.voided then
    raise exception 'a record of usage is voided once, and nothing else of it changes' using errcode = 'restrict_violation';
  end if;
  -- Processes of the previous version don't set it.
  new.voided_at := coalesce(new.voided_at, now());
  return new;
end
$$;
create trigger usage_records_reject_changes before update on usage_records
  for each row execute function usage_records_reject_changes();
