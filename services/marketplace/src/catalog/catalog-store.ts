import type { PricingPlanDto, VendorProfile } from "@ehr-marketplace/contracts";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { DB } from "../database-schema.ts";
import type { FoundPage, PageRequest } from "./app-page.ts";

const maxFeatured = 100;

const sortColumns: Record<string, RawBuilder<unknown>> = {
  name: sql`name`,
  category: sql`category`,
  publishedAt: sql`published_at`,
  updatedAt: sql`updated_at`,
  popularity: sql`popularity`,
};

/** The table with the sort column: popularity has a table of its own, with one row per listing. */
const sortedTable = (property: string): RawBuilder<unknown> =>
  property === "popularity" ? sql`app_popularity` : sql`app_listings`;

const publishedApps = ({ vendor, category }: Pick<PageRequest, "vendor" | "category">): RawBuilder<unknown> => {
  const inCategory = category === undefined ? sql`` : sql`and category = ${category}`;
  return sql`
    from apps where vendor_id = (select id from vendors where slug = ${vendor}) and status = 'published' ${inCategory}`;
};

/** Null if the category doesn't exist. A vendor's apps are counted by an index: there are at most 1,000, unless they were adopted. */
const countApps = ({ vendor, category }: PageRequest): RawBuilder<unknown> => {
  const inCategory = category === undefined ? sql`` : sql`where category = ${category}`;
  if (vendor === undefined) return sql`select sum(apps)::integer from category_counts ${inCategory}`;
  const counted = sql`select count(*)::integer ${publishedApps({ vendor, category })}`;
  return category === undefined ? counted : sql`select (${counted}) from category_counts ${inCategory}`;
};

/**
 * Finds the page's ids by an index that ends with the id, then reads only the rows on the page. A vendor's apps are found by the vendor and
 * sorted.
 */
export async function findPage(database: Kysely<DB>, request: PageRequest): Promise<FoundPage> {
  const { vendor, category, page, size } = request;
  const column = sortColumns[request.sort.property] ?? sql`name`;
  const direction = request.sort.descending ? sql`desc` : sql`asc`;
  const filter =
    vendor !== undefined
      ? sql`where app_id in (select id ${publishedApps(request)})`
      : category !== undefined
        ? sql`where category = ${category}`
        : sql``;
  const { rows } = await sql<FoundPage>`
    select
      (${countApps(request)}) as total,
      count(*)::integer as count,
      coalesce(string_agg(app_dto, ',' order by page.sort_key ${direction}, page.app_id ${direction}), '') as content
    from (
      select app_id, ${column} as sort_key from ${sortedTable(request.sort.property)} ${filter}
      order by ${column} ${direction}, app_id ${direction}
      limit ${size} offset ${Math.min(page * size, Number.MAX_SAFE_INTEGER)}
    ) page
    join app_listings using (app_id)`.execute(database);
  return rows[0] ?? { total: null, count: 0, content: "" };
}

export async function findApp(database: Kysely<DB>, slug: string): Promise<string | undefined> {
  const found = await database.selectFrom("app_listings").select("app_dto").where("slug", "=", slug).executeTakeFirst();
  return found?.app_dto;
}

export async function findAppId(database: Kysely<DB>, slug: string): Promise<string | undefined> {
  const found = await database.selectFrom("app_listings").select("app_id").where("slug", "=", slug).executeTakeFirst();
  return found?.app_id;
}

export async function findVendorProfile(database: Kysely<DB>, slug: string): Promise<VendorProfile | undefined> {
  const { rows } = await sql<VendorProfile>`
    select slug, name, website_url as "websiteUrl", support_email as "supportEmail",
      security_contact as "securityContact",
      (select count(*)::integer ${publishedApps({ vendor: slug, category: undefined })}) as "appCount"
    from vendors where slug = ${slug}`.execute(database);
  return rows[0];
}

export async function findPricing(database: Kysely<DB>, slug: string): Promise<string | undefined> {
  const found = await database
    .selectFrom("app_listings")
    .select("pricing_dto")
    .where("slug", "=", slug)
    .executeTakeFirst();
  return found?.pricing_dto;
}

async function findByPopularity(
  database: Kysely<DB>,
  filter: RawBuilder<unknown>,
  { limit, offset = 0 }: { limit: number; offset?: number },
): Promise<string[]> {
  const { rows } = await sql<{ app_dto: string }>`
    select app_dto from (
      select app_id, popularity from app_popularity where ${filter}
      order by popularity desc, app_id desc limit ${sql.lit(limit)} offset ${offset}
    ) popular
    join app_listings using (app_id)
    order by popular.popularity desc, app_id desc`.execute(database);
  return rows.map((row) => row.app_dto);
}

export const findFeatured = (database: Kysely<DB>): Promise<string[]> =>
  findByPopularity(database, sql`featured`, { limit: maxFeatured });

export async function findMostPopular(
  database: Kysely<DB>,
  category: string,
  page: { limit: number; offset: number },
): Promise<{ total: number; apps: string[] }> {
  const counted = await database
    .selectFrom("category_counts")
    .select("apps")
    .where("category", "=", category)
    .executeTakeFirst();
  return { total: counted?.apps ?? 0, apps: await findByPopularity(database, sql`category = ${category}`, page) };
}

export async function isCategory(database: Kysely<DB>, category: string): Promise<boolean> {
  const found = await database
    .selectFrom("categories")
    .select("category")
    .where("category", "=", category)
    .executeTakeFirst();
  return found !== undefined;
}

export function findCategories(database: Kysely<DB>) {
  return database
    .selectFrom("categories")
    .innerJoin("category_counts", "category_counts.category", "categories.category")
    .select(["categories.category", "categories.name", "categories.description", "category_counts.apps as appCount"])
    .orderBy("categories.position")
    .execute();
}

export function findOfferRow(database: Kysely<DB>, slug: string, planId: string) {
  return database
    .selectFrom("apps")
    .leftJoin("plan_records", (join) =>
      join
        .onRef("plan_records.app_id", "=", "apps.id")
        .on("plan_records.id", "=", planId)
        .on("plan_records.on_sale", "=", true),
    )
    .select([
      "apps.id",
      "apps.slug",
      "apps.name",
      "apps.icon_url as iconUrl",
      "apps.category",
      "apps.extension_points as extensionPoints",
      "apps.smart_launch_url as smartLaunchUrl",
      "apps.fhir_scopes as fhirScopes",
      "apps.vendor_id as vendorId",
      sql<string | null>`case when apps.baa_required then apps.baa_document_sha256 end`.as("baaDocument"),
      sql<PricingPlanDto | null>`plan_records.dto`.as("plan"),
    ])
    .where("apps.slug", "=", slug)
    .where("apps.status", "=", "published")
    .executeTakeFirst();
}

export function findPlan(database: Kysely<DB>, id: string) {
  return database
    .selectFrom("plan_records")
    .select(sql<PricingPlanDto>`dto`.as("plan"))
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
}
