-- Where an EHR discovers the CDS Hooks services of an app
alter table apps
  add column cds_services_url text constraint cds_services_url_is_https check (is_web_url(cds_services_url)),
  -- Of the stored response. `etag` is that of earlier versions, which don't store the URL and may still run: with it, the marketplace would
  -- respond that nothing has changed. A later migration drops it.
  add column catalog_etag text;

drop trigger apps_changed on apps;
create trigger apps_changed after update on apps for each row
  when ((old.id, old.name, old.icon_url, old.category, old.extension_points, old.smart_launch_url, old.cds_services_url, old.fhir_scopes,
      old.config_secrets, old.schema_known)
    is distinct from
    (new.id, new.name, new.icon_url, new.category, new.extension_points, new.smart_launch_url, new.cds_services_url, new.fhir_scopes,
      new.config_secrets, new.schema_known))
  execute function apps_changed();
