import {
  createRepresentation,
  limitRate,
  Problem,
  sendRepresentation,
  standardProblems,
} from "@ehr-marketplace/service-kit/http";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "typebox";
import { createCatalog } from "../catalog/catalog.ts";
import type { CatalogClient } from "../catalog/catalog-client.ts";
import type { BuiltPages } from "./built-pages.ts";
import { resultsPath } from "./results-path.ts";
import { createSitemaps } from "./sitemap.ts";
import { texts } from "./texts.ts";

export interface FileOptions {
  client: CatalogClient;
  built: BuiltPages;
  publicUrl: string;
  requestsPerMinute: number;
  clock: () => Date;
}

const anyone = { config: { access: "anyone" } } as const;
const favicon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0a6572"/>' +
  '<path d="M6 17h5l3-8 5 14 3-6h4" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>';

/** What pages and search engines load beside the pages. */
export const fileRoutes: FastifyPluginAsyncTypebox<FileOptions> = async (scope, options) => {
  const { client, built, publicUrl, clock } = options;
  limitRate(scope, options.requestsPerMinute);

  scope.get(
    "/assets/:name",
    { ...anyone, schema: { params: Type.Object({ name: Type.String({ maxLength: 200 }) }) } },
    (request, reply) => {
      const asset = built.assets.get(`/assets/${request.params.name}`);
      if (asset === undefined) throw new Problem(standardProblems.notFound, "No such file exists.");
      return sendRepresentation(request, reply, asset);
    },
  );

  const icon = createRepresentation(favicon, { contentType: "image/svg+xml", cacheControl: "public, max-age=86400" });
  scope.get("/favicon.svg", anyone, (request, reply) => sendRepresentation(request, reply, icon));

  // Pages that depend on a session, and searches, which have no end.
  const disallowed = ["/apps?q=", "/bff/", "/callback", "/console", "/login", "/logout", "/practice/", "/suggestions"];
  const robots = createRepresentation(
    ["User-agent: *", ...disallowed.map((path) => `Disallow: ${path}`), `Sitemap: ${publicUrl}/sitemap.xml`, ""].join(
      "\n",
    ),
    { contentType: "text/plain; charset=utf-8", cacheControl: "public, max-age=3600" },
  );
  scope.get("/robots.txt", anyone, (request, reply) => sendRepresentation(request, reply, robots));

  const sitemaps = createSitemaps({ publicUrl, clock });
  scope.get("/sitemap.xml", anyone, async (request, reply) =>
    sendRepresentation(request, reply, await sitemaps.getRoot(createCatalog(client, request.ip))),
  );
  const numbered = Type.Object({ number: Type.String({ maxLength: 6 }) });
  scope.get("/sitemaps/:number.xml", { ...anyone, schema: { params: numbered } }, async (request, reply) => {
    const sitemap = await sitemaps.getNumbered(createCatalog(client, request.ip), Number(request.params.number));
    if (sitemap === undefined) throw new Problem(standardProblems.notFound, "No such sitemap exists.");
    return sendRepresentation(request, reply, sitemap);
  });

  const suggestionsQuery = Type.Object({ q: Type.String({ minLength: 1, maxLength: 200 }) });
  scope.get("/suggestions", { ...anyone, schema: { querystring: suggestionsQuery } }, async (request, reply) => {
    const q = request.query.q.trim();
    const found = q === "" ? undefined : await createCatalog(client, request.ip).searchApps({ q, limit: 6 });
    const apps = (found?.data ?? []).map(({ slug, name, vendor, iconUrl }) => ({
      name,
      vendor: vendor.name,
      iconUrl,
      href: `/apps/${encodeURIComponent(slug)}`,
    }));
    const body = JSON.stringify({ apps, all: { text: texts.site.allResults(q), href: resultsPath({ q, page: 1 }) } });
    const contentType = "application/json; charset=utf-8";
    return sendRepresentation(
      request,
      reply,
      createRepresentation(body, { contentType, cacheControl: "public, max-age=60" }),
    );
  });
};
