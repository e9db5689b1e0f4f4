-- An organisation's log by what happened, by what it happened to, and by both: each reads one range of one index.
create index audit_entries_of_organisation_and_action on audit_entries (on_behalf_of, action, at, id);
create index audit_entries_of_organisation_and_target on audit_entries (on_behalf_of, target_id, at, id);
create index audit_entries_of_organisation_target_and_action on audit_entries (on_behalf_of, target_id, action, at, id);
