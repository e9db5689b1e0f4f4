import { withClient } from "@ehr-marketplace/test-kit";

const checks: Record<string, string> = {
  "a published revision that somebody approved": `
    select l.slug from listings l join revisions r on r.app_id = l.app_id and r.number = l.published_revision
    where not r.adopted and not exists (
      select from reviews v where v.app_id = r.app_id and v.number = r.number and v.decision = 'approved'
    )`,
  "the last approved revision as the published one": `
    select l.slug from listings l join (
      select distinct on (app_id) app_id, number from reviews where decision = 'approved' order by app_id, decided_at desc
    ) last on last.app_id = l.app_id where l.published_revision is distinct from last.number`,
  "the app of its published revision": `
    select l.slug from listings l
    join revisions r on r.app_id = l.app_id and r.number = l.published_revision
    left join apps a on a.id = l.app_id
    where a.name is distinct from r.draft ->> 'name' or a.version is distinct from r.draft ->> 'version'
      or a.fhir_scopes is distinct from coalesce(r.draft ->> 'fhirScopes', '')`,
  "a public app if and only if nothing hides it": `
    select l.slug from listings l join apps a on a.id = l.app_id left join app_listings p on p.app_id = a.id
    where l.published_revision is not null
      and (p.app_id is not null) <> (l.unpublished_at is null and l.suspended_at is null)`,
  "a catalog entry with its version": `
    select p.slug from app_listings p join apps a on a.id = p.app_id
    where p.app_dto::json ->> 'version' <> a.version or p.app_dto::json ->> 'name' <> a.name`,
  "the plans of its published revision on sale": `
    select l.slug from listings l join revisions r on r.app_id = l.app_id and r.number = l.published_revision
    where not r.adopted and array(
      select plan ->> 'name' from json_array_elements(r.draft -> 'plans') as plan order by 1
    ) <> array(select name from plan_records join pricing_plans using (id) where on_sale and pricing_plans.app_id = l.app_id order by 1)`,
  "an event for each approval": `
    select l.slug from listings l
    where (select count(*) from reviews v where v.app_id = l.app_id and v.decision = 'approved') <> (
      select count(*) from events e
      where e.event = 'app.updated' and e.vendor_id = l.vendor_id and e.payload::json #>> '{app,slug}' = l.slug
    )`,
  "an audit entry for each decision": `
    select l.slug from reviews v join listings l using (app_id)
    where v.decision in ('approved', 'rejected') and not exists (
      select from audit_entries a where a.target_kind = 'review' and a.target_id = v.id::text
    )`,
  "published media of its published revision": `
    select l.slug from listings l join revision_media m on m.app_id = l.app_id and m.number = l.published_revision
    join media on media.id = m.media_id where media.published_at is null`,
  "only published media that a revision was approved with": `
    select media.id::text as slug from media where published_at is not null and not exists (
      select from revision_media m join reviews v on v.app_id = m.app_id and v.number = m.number
      where m.media_id = media.id and v.decision = 'approved'
    )`,
};

/** Describes everything that is half published, lost, or public without an approval. */
export async function findHalfPublished(ownerUrl: string): Promise<string[]> {
  return withClient(ownerUrl, async (client) => {
    const found: string[] = [];
    for (const [invariant, sql] of Object.entries(checks)) {
      const { rows } = await client.query<{ slug: string }>(sql);
      for (const { slug } of rows) found.push(`${slug} lacks ${invariant}`);
    }
    return found;
  });
}
