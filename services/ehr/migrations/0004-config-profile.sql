-- Configuration schemas are a profile of JSON Schema from here on, and secrets are JSON pointers. Schemas that were stored before
-- may be outside the profile: they are read again, and meanwhile no value of a configuration is shown or set. The empty pointer is
-- the whole configuration.
update apps set config_schema = null, schema_problem = 'It is being read again from the marketplace.', config_secrets = '[""]',
  etag = null, fetched_at = null
where config_schema is not null or schema_problem is not null;

-- What was stored as a secret stays hidden until it is set anew; the old notation of which values they were can't be converted.
update installations set config_secrets = '[""]' where config_secrets is not null;

comment on column apps.config_secrets is
  'JSON: pointers to the values of a configuration that only the EHR''s backend reads; null: none';
comment on column installations.config_secrets is
  'JSON: pointers to the values that were secret when they were stored; a later schema reveals none of them';
