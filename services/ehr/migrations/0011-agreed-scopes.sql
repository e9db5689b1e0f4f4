-- The scopes that the organisation has agreed to, as the newest event or the marketplace's list says. In force are those of them that the
-- app has. Null if it isn't known: stored by a process of the previous version, or by an event without scopes. Then the app's are in force.
alter table subscriptions add column fhir_scopes text check (length(fhir_scopes) <= 40000);
-- Existing subscriptions were made to the app as it is.
update subscriptions set fhir_scopes = apps.fhir_scopes from apps
where apps.slug = subscriptions.app_slug and length(apps.fhir_scopes) <= 40000;

-- Installations show them, and processes cache installations.
create trigger subscriptions_scopes_changed after update on subscriptions
  for each row when (old.fhir_scopes is distinct from new.fhir_scopes) execute function installations_changed();
