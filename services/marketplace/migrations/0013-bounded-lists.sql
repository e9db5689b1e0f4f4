-- Lists whose filters read all of a recipient's deliveries, an actor's entries or the paused subscriptions.
create index deliveries_dropped on deliveries (recipient_id, created_at, id) where status = 'dropped';
create index audit_entries_of_actor_and_action on audit_entries (actor_subject, action, at, id);
create index subscriptions_paused_by_reason on subscriptions (pause_reason, created_at, id) where status = 'paused';

-- The floor is the default retention, unless the owner has set another.
alter table delivery_log_retention alter column least_days set default 90;
update delivery_log_retention set least_days = 90 where least_days = 30;
