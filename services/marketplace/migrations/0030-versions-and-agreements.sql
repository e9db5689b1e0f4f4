-- What the public reads of vendors and of earlier revisions; the roles of those who agree to scopes and BAAs.

-- The apps of a vendor, and their number, also in one category.
create index apps_published_of_vendor on apps (vendor_id, category, id) where status = 'published';

-- The published revisions of an app, however many others it has.
create index reviews_approved on reviews (app_id, number) where decision = 'approved';

-- In which role the person agreed: operators may agree for an organisation, developers for their sandbox. Null if it was not recorded.
alter table scope_agreements add column role text check (role in ('org-admin', 'operator', 'vendor-developer'));
alter table baa_agreements add column role text check (role in ('org-admin', 'operator'));

-- With the hash of the agreement, which a client that shows it sends when it subscribes.
create or replace view published_apps as
select
  app.id as app_id,
  app.slug,
  app.category,
  app.name,
  app.featured,
  app.published_at,
  app.updated_at,
  searched.name as search_name,
  searched.head as head_words,
  searched.head
    || word_vector(category.description || ' ' || app.description, 'D') as words,
  search_text(
    app.name || ' ' || app.summary || ' ' || vendor.name || ' ' || category.name || ' ' || category.description || ' '
    || app.description
  ) as text,
  row_to_json(wire)::text as app_dto,
  '[' || coalesce(
    (select string_agg(plan.dto, ',' order by plan.position, plan.id) from plans_on_sale plan where plan.app_id = app.id), ''
  ) || ']' as pricing_dto
from apps app
join vendors vendor on vendor.id = app.vendor_id
join categories category on category.category = app.category
cross join lateral (
  select
    search_text(app.name) as name,
    word_vector(app.name, 'A')
      || word_vector(app.summary, 'B')
      || word_vector(vendor.name || ' ' || category.name, 'C')
      || category_mark(app.category) as head
) searched
cross join lateral (
  select
    app.id,
    app.slug,
    app.name,
    app.summary,
    app.description,
    app.icon_url as "iconUrl",
    app.category,
    (
      select row_to_json(made_by) from (select vendor.slug, vendor.name, vendor.website_url as "websiteUrl") made_by
    ) as vendor,
    app.version,
    app.featured,
    app.audience,
    app.extension_points as "extensionPoints",
    app.smart_launch_url as "smartLaunchUrl",
    app.cds_services_url as "cdsServicesUrl",
    app.fhir_scopes as "fhirScopes",
    app.scope_purposes as "scopePurposes",
    app.screenshots,
    app.screenshot_texts as "screenshotTexts",
    app.website_url as "websiteUrl",
    app.support_url as "supportUrl",
    app.privacy_policy_url as "privacyPolicyUrl",
    app.terms_url as "termsUrl",
    array(
      select plan.pricing_model from plans_on_sale plan
      where plan.app_id = app.id group by plan.pricing_model order by min(plan.position)
    ) as "pricingModels",
    (select price from starting_prices starting where starting.app_id = app.id) as "startingPrice",
    app.config_schema as "configSchema",
    app.baa_available as "baaAvailable",
    app.baa_required as "baaRequired",
    app.baa_url as "baaUrl",
    app.baa_document_sha256 as "baaSha256",
    current_trust(app.trust, (now() at time zone 'UTC')::date) as trust,
    wire_instant(app.published_at) as "publishedAt",
    wire_instant(app.updated_at) as "updatedAt"
) wire
where app.status = 'published';

-- The others get the field, null, with their next change: deriving all of a large catalog takes minutes.
select refresh_listings(array(select id from apps where baa_document_sha256 is not null));
