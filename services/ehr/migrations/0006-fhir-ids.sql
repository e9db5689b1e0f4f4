-- Patients and encounters are named by FHIR ids: UUIDs are such, and so are the ids of servers that mint others.
-- Changing the type rewrites both tables under an exclusive lock. No version has been released, so neither holds anything
-- that somebody waits for.

alter table launches
  alter column patient_id type text collate "C",
  alter column encounter_id type text collate "C",
  add constraint patient_id_is_a_fhir_id check (patient_id ~ '^[A-Za-z0-9.-]{1,64}$'),
  add constraint encounter_id_is_a_fhir_id check (encounter_id ~ '^[A-Za-z0-9.-]{1,64}$');

alter table launch_contexts
  alter column patient_id type text collate "C",
  alter column encounter_id type text collate "C",
  add constraint patient_id_is_a_fhir_id check (patient_id ~ '^[A-Za-z0-9.-]{1,64}$'),
  add constraint encounter_id_is_a_fhir_id check (encounter_id ~ '^[A-Za-z0-9.-]{1,64}$');
