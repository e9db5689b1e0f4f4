-- recipients/recipient.ts decides how a recipient's state changes, also when an organisation removes its callback. The trigger
-- only creates the row in its initial state.
drop trigger organisations_update_recipient on organisations;
drop function organisations_update_recipient();

create function organisations_insert_recipient() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into recipients (id, kind, status, held_since)
  values (
    new.id, 'ehr', case when new.callback_url is null then 'held' else 'active' end,
    case when new.callback_url is null then new.created_at end
  );
  return null;
end
$$;
create trigger organisations_insert_recipient after insert on organisations
for each row execute function organisations_insert_recipient();
