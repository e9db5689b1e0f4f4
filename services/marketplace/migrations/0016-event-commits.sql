-- The check of a foreign key locks the referenced row, and concurrent events to one endpoint made a multixact each. Deliveries are
-- inserted from rows of recipients, which are never deleted.
alter table deliveries drop constraint deliveries_recipient_id_fkey;

-- PostgreSQL serialises the commits of all transactions that notify. The API notifies workers after the commit.
drop trigger deliveries_notify_workers_on_insert on deliveries;
drop trigger deliveries_notify_workers_on_update on deliveries;
drop function deliveries_notify_workers();
