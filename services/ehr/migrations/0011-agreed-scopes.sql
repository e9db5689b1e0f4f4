-- The scopes that the organisation has agreed to, as the newest event or the marketplace's list says. In force are those of them that the
-- app has. Null if it isn't known: stored by a process of the previous version, or by an event without scopes. Then the app's are in force.
alter table subscriptions add column fhir_scopes text check (length(fhir_scopes) <= 20000);

-- Installations show them, and processes cache installations.
create trigger subscriptions_scopes_changed after update on subscriptions
  for each row when (old.fhir_scopes is distinct from new.fhir_scopes) execute function installations_changed();
