-- What vendors publish. What anyone may browse is derived from it in 0002.

-- A role belongs to the cluster, not to this database: it may be there already, and then nobody need be able to make it.
do $$
begin
  if not exists (select from pg_roles where rolname = 'marketplace_service') then
    create role marketplace_service nologin;
  end if;
exception
  when duplicate_object or unique_violation then null; -- another migrator was faster
end
$$;

comment on schema public is 'The marketplace';
-- Clusters that began before PostgreSQL 15 let anyone create tables here.
revoke create on schema public from public;
grant usage on schema public to marketplace_service;
grant select on schema_migrations to marketplace_service;

create table vendors (
  id uuid primary key,
  slug text not null unique check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) between 3 and 64),
  name text not null check (length(name) between 1 and 200),
  website_url text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table categories (
  category text primary key check (category ~ '^[A-Z]+(_[A-Z]+)*$'),
  name text not null,
  description text not null,
  position integer not null unique
);

create table extension_points (
  name text primary key,
  description text not null
);

create table apps (
  id uuid primary key,
  slug text not null unique check (
    slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'
    and length(slug) between 3 and 64
    and slug not in ('search', 'featured', 'categories')
  ),
  vendor_id uuid not null references vendors,
  category text not null references categories,
  status text not null check (status in ('draft', 'published', 'withdrawn')),
  name text not null check (length(name) between 1 and 200),
  summary text not null check (length(summary) <= 500),
  description text not null check (length(description) <= 50000),
  icon_url text not null,
  version text not null,
  featured boolean not null default false,
  extension_points text[] not null default '{}',
  smart_launch_url text,
  fhir_scopes text not null default '',
  screenshots text[] not null default '{}',
  website_url text,
  support_url text,
  privacy_policy_url text,
  terms_url text,
  -- json, not jsonb: a form made from the schema shows its keys in the vendor's order
  config_schema json check (json_typeof(config_schema) = 'object'),
  baa_available boolean not null default false,
  published_at timestamptz check (status <> 'published' or published_at is not null),
  updated_at timestamptz not null default now()
);
create index apps_by_vendor on apps (vendor_id);
create index apps_by_category on apps (category);

create function apps_refuse_unknown_extension_points() returns trigger language plpgsql as $$
declare
  unknown text;
begin
  select point into unknown
  from unnest(new.extension_points) as point
  where point !~ '^cds:[a-z]+(-[a-z]+)*$'
    and not exists (select from extension_points where extension_points.name = point)
  limit 1;
  if unknown is not null then
    raise exception 'extension point "%" is not in the registry', unknown using errcode = 'foreign_key_violation';
  end if;
  return new;
end
$$;
create trigger apps_refuse_unknown_extension_points before insert or update of extension_points on apps
  for each row execute function apps_refuse_unknown_extension_points();

create table pricing_plans (
  id uuid primary key,
  app_id uuid not null references apps,
  position integer not null,
  name text not null check (length(name) between 1 and 200),
  description text not null,
  pricing_model text not null check (pricing_model in ('FREE', 'FLAT', 'PER_UNIT', 'TIERED', 'USAGE')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount numeric(20, 8) check (amount >= 0),
  interval text check (interval in ('MONTH', 'YEAR')),
  trial_days integer not null default 0 check (trial_days between 0 and 365),
  unit_name text,
  included_units bigint check (included_units >= 0),
  tiers json not null default '[]' check (json_typeof(tiers) = 'array'),
  tier_mode text check (tier_mode in ('GRADUATED', 'VOLUME')),
  metric text,
  aggregation text check (aggregation in ('SUM', 'COUNT', 'MAX', 'LATEST')),
  features text[] not null default '{}',
  published_at timestamptz,
  retired_at timestamptz check (retired_at is null or published_at is not null),
  constraint plan_fits_its_model check (
    case pricing_model
      when 'FREE' then amount is not null and amount = 0 and interval is null
      when 'FLAT' then amount is not null and amount = trunc(amount) and interval is not null
      when 'PER_UNIT' then
        amount is not null and amount = trunc(amount) and interval is not null and unit_name is not null
      when 'TIERED' then
        amount is null and interval is not null and unit_name is not null and tier_mode is not null
        and json_array_length(tiers) > 0
      else
        interval is not null and metric is not null and aggregation is not null
        and (amount is null) = (json_array_length(tiers) > 0)
    end
  ),
  constraint only_tiered_plans_have_tiers check (
    (json_array_length(tiers) > 0) = (tier_mode is not null) and (tier_mode is null or pricing_model in ('TIERED', 'USAGE'))
  ),
  constraint only_usage_has_a_metric check (
    pricing_model = 'USAGE' or (metric is null and aggregation is null)
  )
);
create index pricing_plans_by_app on pricing_plans (app_id);
create unique index pricing_plans_on_sale_once on pricing_plans (app_id, name)
  where published_at is not null and retired_at is null;

-- Subscribers stay on the plan that they took: a new price is a new plan.
create function pricing_plans_never_change() returns trigger language plpgsql as $$
begin
  if old.published_at is null then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op = 'UPDATE' then
    if old.retired_at is null
      and to_jsonb(new) - 'retired_at' = to_jsonb(old) - 'retired_at' then
      return new;
    end if;
  end if;
  raise exception 'a published pricing plan never changes: publish a new one and retire this one'
    using errcode = 'restrict_violation';
end
$$;
create trigger pricing_plans_never_change before update or delete on pricing_plans
  for each row execute function pricing_plans_never_change();

insert into categories (position, category, name, description) values
  (1, 'FRONT_OFFICE', 'Front office', 'Scheduling, check-in, intake, reminders and telephones.'),
  (2, 'FINANCIAL', 'Financial', 'Eligibility, claims, payments, pricing and revenue.'),
  (3, 'OFFICE_ADMINISTRATION', 'Office administration', 'Staffing, compliance, training, supplies and reporting.'),
  (4, 'OFFICE_DEVICE_INTEGRATION', 'Office devices', 'Scanners, card readers, printers, kiosks and telephones as part of the record.'),
  (5, 'DOCUMENTATION', 'Documentation', 'Dictation, ambient notes, templates and coding.'),
  (6, 'RECORDS_MANAGEMENT', 'Records management', 'Requests, release, exchange, archiving and document handling.'),
  (7, 'CARE_COORDINATION', 'Care coordination', 'Referrals, transitions, care plans and messages between teams.'),
  (8, 'POPULATION_HEALTH', 'Population health', 'Registries, quality measures, risk and outreach.'),
  (9, 'EHR_EFFICIENCY', 'EHR efficiency', 'Fewer clicks: inbox, shortcuts, search and automation.'),
  (10, 'ORDERING_PRESCRIBING', 'Ordering and prescribing', 'Prescriptions, prior authorisation, laboratory and imaging orders.'),
  (11, 'MEDICAL_DEVICE_INTEGRATION', 'Medical devices', 'Measurements from the exam room straight into the chart.'),
  (12, 'SPECIALTY_EHR', 'Specialty', 'What one specialty needs and a general record lacks.'),
  (13, 'PATIENT_ENGAGEMENT', 'Patient engagement', 'Education, surveys, messaging and programmes for patients.'),
  (14, 'CLINICAL_DECISION_SUPPORT', 'Clinical decision support', 'Guidance, calculators, alerts and evidence at the point of care.'),
  (15, 'REMOTE_CARE', 'Remote care', 'Video visits, monitoring at home and care between visits.');

insert into extension_points (name, description) values
  ('patient-chart-tab', 'A tab of its own in the patient''s chart'),
  ('patient-chart-panel', 'A panel beside the patient''s chart'),
  ('encounter-panel', 'A panel beside the encounter'),
  ('note-panel', 'A panel beside the note that is being written'),
  ('appointment-panel', 'A panel beside the appointment'),
  ('global-nav', 'An entry of the main navigation, outside any patient'),
  ('patient-portal-menu', 'An entry of the patient portal''s menu'),
  ('settings', 'A page of the practice''s settings');
