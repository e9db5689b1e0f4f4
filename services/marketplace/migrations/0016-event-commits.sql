-- The check of a foreign key locks the referenced row, and concurrent events to one endpoint made a multixact each. Deliveries are
-- inserted from rows of recipients, which are never deleted.
alter table deliveries drop constraint deliveries_recipient_id_fkey;
