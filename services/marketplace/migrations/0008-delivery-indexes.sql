-- Indexes of unsettled deliveries that no plan can confuse.
--
-- Statistics that were taken when nothing waited estimate `status in ('waiting', 'queued')` at no rows. Then every index whose
-- predicate follows from it costs the same to the planner, and it read all waiting rows by the index of (status, created_at), once for
-- each ordering key. Now each kind of search has a predicate of its own, so that only the index made for it is eligible:
--   one recipient's deliveries   settled_at is null (the same as status in ('waiting', 'queued'), by settled_at_a_time)
--   what waits, over all         status = 'waiting'
--   what has a job               status = 'queued'
-- Rows that are found by their ids compare neither, but `status not in (…)`: an index that ends with the id would be read from end to end.
drop index deliveries_in_lane;
create index deliveries_unsettled_by_ordering_key on deliveries (recipient_id, subscription_id, sequence) where settled_at is null;
drop index deliveries_due;
create index deliveries_unsettled_by_age on deliveries (recipient_id, created_at, id) where settled_at is null;
drop index deliveries_undelivered;
create index deliveries_waiting_by_age on deliveries (created_at) where status = 'waiting';
create index deliveries_queued_by_recipient on deliveries (recipient_id, created_at) where status = 'queued';
