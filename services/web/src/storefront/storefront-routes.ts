import { type AppVersionPage, reservedSlugs, slugPattern } from "@ehr-marketplace/contracts";
import {
  limitRate,
  Problem,
  type Representation,
  sendRepresentation,
  standardProblems,
} from "@ehr-marketplace/service-kit/http";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { type Catalog, createCatalog } from "../catalog/catalog.ts";
import type { CatalogClient } from "../catalog/catalog-client.ts";
import { toQuery } from "../catalog/query.ts";
import type { BuiltPages } from "./built-pages.ts";
import { gatherApp } from "./gather-app.ts";
import { gatherResults } from "./gather-results.ts";
import { createPageRenderer } from "./render-page.ts";
import { resultsPath } from "./results-path.ts";
import { texts } from "./texts.ts";

export interface StorefrontOptions {
  client: CatalogClient;
  built: BuiltPages;
  publicUrl: string;
  vendorsUrl: string | undefined;
  supportUrl: string | undefined;
  headers: Record<string, string>;
  requestsPerMinute: number;
  clock: () => Date;
}

const anyone = { config: { access: "anyone" } } as const;
const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));
/** Longer ones than any slug are 404, as others are that no app has. */
const maxSlugLength = 1_000;
const slugParams = Type.Object({ slug: Type.String({ maxLength: maxSlugLength }) });
const slugRegExp = new RegExp(slugPattern);
const maxPage = 1_000_000;
const vendorApps = 48;

const notesOf = (versions: AppVersionPage | undefined): string[] =>
  versions?.items.map(({ releaseNotes }) => releaseNotes).filter((notes) => notes !== null) ?? [];

const notFound = (): Problem => new Problem(standardProblems.notFound, "No such page exists.");

/** What was read, or a 404. */
function required<T>(reading: T | undefined): T {
  if (reading === undefined) throw notFound();
  return reading;
}

/** Only what can be a slug becomes part of a path of the API. */
function requireSlug({ slug }: { slug: string }): string {
  if (!slugRegExp.test(slug)) throw notFound();
  return slug;
}

/** The API has lists at the reserved ones. */
function requireAppSlug(params: { slug: string }): string {
  if (reservedSlugs.includes(params.slug)) throw notFound();
  return requireSlug(params);
}

/** The public pages. They depend on the URL only, never on who reads them, so that caches may share them. */
export const storefrontRoutes: FastifyPluginAsyncTypebox<StorefrontOptions> = async (scope, options) => {
  const { client, built, clock } = options;
  const { pages, prepareMarkdown } = built;
  const render = createPageRenderer({ ...options, assets: built.urls, clock });
  const catalogOf = ({ ip }: FastifyRequest): Catalog => createCatalog(client, ip);
  limitRate(scope, options.requestsPerMinute);

  const getHome = async (catalog: Catalog): Promise<Representation> => {
    const [categories, featured, newest, popular] = await Promise.all([
      catalog.listCategories(),
      catalog.listFeatured(),
      catalog.listApps({ sort: "publishedAt,desc", size: 4 }),
      catalog.listApps({ sort: "popularity,desc", size: 8 }),
    ]);
    const data = {
      categories: categories?.data ?? [],
      featured: (featured?.data ?? []).slice(0, 8),
      newest: newest?.data.content ?? [],
      popular: popular?.data.content ?? [],
    };
    const readings = [categories, featured, newest, popular];
    return render({ path: "/", readings, write: (context) => pages.home(data, context) });
  };
  scope.get("/", anyone, async (request, reply) =>
    sendRepresentation(request, reply, await getHome(catalogOf(request))),
  );

  const resultsQuery = Type.Object({
    q: text(200),
    category: text(64),
    vendor: text(64),
    sort: Type.Optional(Type.Enum(Object.keys(texts.results.sorts))),
    page: Type.Optional(Type.Integer({ minimum: 1, maximum: maxPage })),
  });
  scope.get("/apps", { ...anyone, schema: { querystring: resultsQuery } }, async (request, reply) => {
    const { category, vendor, page = 1, sort } = request.query;
    const q = request.query.q?.trim() || undefined;
    const query = {
      q,
      category: category?.toUpperCase(),
      // A search covers all vendors, and is sorted by relevance.
      vendor: q === undefined && vendor !== undefined && slugRegExp.test(vendor) ? vendor : undefined,
      sort: q === undefined ? sort : undefined,
      page,
    };
    const { data, readings } = await gatherResults(catalogOf(request), query);
    if (page > 1 && page > data.pages) throw notFound();
    const rendered = render({ path: resultsPath(query), readings, write: (context) => pages.results(data, context) });
    return sendRepresentation(request, reply, rendered);
  });

  const appQuery = Type.Object({ plan: text(36), quantity: text(20), usage: text(40) });
  scope.get(
    "/apps/:slug",
    { ...anyone, schema: { params: slugParams, querystring: appQuery } },
    async (request, reply) => {
      const slug = requireAppSlug(request.params);
      const { data, readings } = required(await gatherApp(catalogOf(request), slug, request.query));
      await prepareMarkdown([data.app.description, ...notesOf(data.versions)]);
      const { plan, quantity, usage } = request.query;
      const given = toQuery({ plan, quantity, usage });
      const path = `/apps/${slug}${given === "" ? "" : `?${given}`}`;
      return sendRepresentation(
        request,
        reply,
        render({ path, readings, write: (context) => pages.app(data, context) }),
      );
    },
  );

  const versionsQuery = Type.Object({ after: text(500) });
  const versionsSchema = { params: slugParams, querystring: versionsQuery };
  scope.get("/apps/:slug/versions", { ...anyone, schema: versionsSchema }, async (request, reply) => {
    const slug = requireAppSlug(request.params);
    const { after } = request.query;
    const catalog = catalogOf(request);
    const [app, versions] = await Promise.all([catalog.getApp(slug), catalog.listVersions(slug, after)]);
    const data = { app: required(app).data, versions: required(versions).data, isFirstPage: after === undefined };
    await prepareMarkdown(notesOf(data.versions));
    const path = `/apps/${slug}/versions${after === undefined ? "" : `?after=${encodeURIComponent(after)}`}`;
    const write = (context: Parameters<typeof pages.versions>[1]) => pages.versions(data, context);
    return sendRepresentation(request, reply, render({ path, readings: [app, versions], write }));
  });

  scope.get("/vendors/:slug", { ...anyone, schema: { params: slugParams } }, async (request, reply) => {
    const slug = requireSlug(request.params);
    const catalog = catalogOf(request);
    const [vendor, apps] = await Promise.all([
      catalog.getVendor(slug),
      catalog.listApps({ vendor: slug, sort: "popularity,desc", size: vendorApps }),
    ]);
    const data = {
      vendor: required(vendor).data,
      apps: apps?.data.content ?? [],
      total: apps?.data.totalElements ?? 0,
    };
    const write = (context: Parameters<typeof pages.vendor>[1]) => pages.vendor(data, context);
    return sendRepresentation(request, reply, render({ path: `/vendors/${slug}`, readings: [vendor, apps], write }));
  });
};
