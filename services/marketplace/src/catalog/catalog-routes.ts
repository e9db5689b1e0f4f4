import {
  appDto,
  appPage,
  appVersionDto,
  appVersionPage,
  categoryDto,
  chargeLine,
  clientMetadata,
  foundAppDto,
  type ListAppsQuery,
  type ListVersionsQuery,
  listAppsQuery,
  listVersionsQuery,
  maxLookupLength,
  noNulPattern,
  pricingPlanDto,
  quoteBody,
  quoteDto,
  type SearchAppsQuery,
  searchAppsQuery,
  spendLimitDto,
  vendorProfile,
} from "@ehr-marketplace/contracts";
import {
  allowAnyOrigin,
  limitRate,
  problemResponses,
  responseOf,
  sendRepresentation,
} from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { quotePlan } from "../billing/quote-plan.ts";
import type { BillingDeps } from "../billing/read-estimate.ts";
import { type ClientDeps, getClient } from "../connections/read-client.ts";
import {
  type CatalogDeps,
  getApp,
  getPricing,
  getVendorProfile,
  getVersions,
  listApps,
  listCategories,
  listFeatured,
  searchApps,
} from "./browse-catalog.ts";

const slugParameter = (description: string, example: string) =>
  ({
    type: "object",
    required: ["slug"],
    properties: {
      slug: { type: "string", pattern: noNulPattern, maxLength: maxLookupLength, description, examples: [example] },
    },
  }) as const;
const appParams = slugParameter("The app's slug", "northwind-scribe");
const vendorParams = slugParameter("The vendor's slug", "northwind-health");

function responses(
  description: string,
  schema: object,
  ...problems: Parameters<typeof problemResponses>
): Record<number, object> {
  return {
    200: { description, content: { "application/json": { schema } } },
    304: { description: "Unchanged since the response whose ETag was sent as `If-None-Match`", type: "null" },
    ...problemResponses(...problems),
  };
}

const searchHeaders = {
  "x-total-count": {
    type: "integer",
    description: "Number of apps found; a search considers at most 400, popular ones first",
  },
  "x-did-you-mean": {
    type: "string",
    description: "The corrected text, percent-encoded, if the search was for this instead of `q`",
  },
  link: {
    type: "string",
    description: '`rel="next"`, if there is another page; `rel="help"`, if the category is unknown',
  },
};

const withHeaders = (documented: Record<number, object>, headers: object): Record<number, object> => ({
  ...documented,
  200: { ...documented[200], headers },
});

const arrayOf = (name: string): object => ({ type: "array", items: { $ref: `${name}#` } });

export async function catalogRoutes(
  scope: FastifyInstance,
  options: CatalogDeps & Pick<ClientDeps, "publicUrl"> & BillingDeps & { requestsPerMinute: number },
): Promise<void> {
  for (const schema of [
    appDto,
    appPage,
    foundAppDto,
    categoryDto,
    pricingPlanDto,
    appVersionDto,
    appVersionPage,
    vendorProfile,
    clientMetadata,
    chargeLine,
    quoteDto,
    spendLimitDto,
  ]) {
    scope.addSchema(schema);
  }
  allowAnyOrigin(scope, "/apps", "/vendors");
  limitRate(scope, options.requestsPerMinute);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Catalog"];
  const config = { access: "anyone" } as const;
  const linkToCategories = {
    type: "string",
    description: '`rel="help"`: the list of categories, if the requested one is unknown',
  };

  routes.get(
    "/apps",
    {
      config,
      schema: {
        tags,
        operationId: "listApps",
        summary: "List apps",
        description: "A page of published apps, filtered by category and vendor, and sorted.",
        querystring: listAppsQuery,
        response: withHeaders(responses("A page of apps", { $ref: "AppPage#" }), { link: linkToCategories }),
      },
    },
    async (request, reply) =>
      sendRepresentation(request, reply, await listApps(options, request.query as ListAppsQuery)),
  );

  routes.get(
    "/apps/search",
    {
      config,
      schema: {
        tags,
        operationId: "searchApps",
        summary: "Search apps",
        description:
          "Searches name, summary, description, vendor and category, with the synonyms and abbreviations of the field. Most relevant first.",
        querystring: searchAppsQuery,
        response: withHeaders(responses("Apps, the most relevant first", arrayOf("FoundAppDto")), searchHeaders),
      },
    },
    async (request, reply) =>
      sendRepresentation(request, reply, await searchApps(options, request.query as SearchAppsQuery)),
  );

  routes.get(
    "/apps/featured",
    {
      config,
      schema: {
        tags,
        operationId: "listFeaturedApps",
        summary: "List featured apps",
        description: "The apps that the marketplace recommends, the most popular first.",
        response: responses("Featured apps", arrayOf("AppDto")),
      },
    },
    async (request, reply) => sendRepresentation(request, reply, await listFeatured(options)),
  );

  routes.get(
    "/apps/categories",
    {
      config,
      schema: {
        tags,
        operationId: "listCategories",
        summary: "List categories",
        description: "Every category, with the number of apps published in it.",
        response: responses("Categories", arrayOf("CategoryDto")),
      },
    },
    async (request, reply) => sendRepresentation(request, reply, await listCategories(options)),
  );

  routes.get(
    "/apps/:slug",
    {
      config,
      schema: {
        tags,
        operationId: "getApp",
        summary: "Get an app",
        description: "One published app.",
        params: appParams,
        response: responses("The app", { $ref: "AppDto#" }, 404),
      },
    },
    async (request, reply) => sendRepresentation(request, reply, await getApp(options, request.params.slug)),
  );

  routes.get(
    "/apps/:slug/pricing",
    {
      config,
      schema: {
        tags,
        operationId: "getPricing",
        summary: "Get an app's pricing",
        description: "The plans that a practice can subscribe to. A published plan never changes.",
        params: appParams,
        response: responses("Plans, in the vendor's order", arrayOf("PricingPlanDto"), 404),
      },
    },
    async (request, reply) => sendRepresentation(request, reply, await getPricing(options, request.params.slug)),
  );

  routes.post(
    "/apps/:slug/estimate",
    {
      config,
      schema: {
        tags,
        operationId: "estimatePlan",
        summary: "Estimate what a plan would cost",
        description:
          "What a practice would pay: this month if it subscribes now, and the next month in full. Nothing is stored. Prices are in the currency's minor unit.",
        params: appParams,
        body: quoteBody,
        response: {
          200: responseOf("What the plan would cost", "QuoteDto"),
          ...problemResponses(404, 413, 415, {
            422: "The app has no such plan on sale, or the plan has no `quantity` or charges no `usage`",
          }),
        },
      },
    },
    async (request, reply) => {
      reply.header("cache-control", "no-store");
      return quotePlan(options, request.params.slug, request.body);
    },
  );

  routes.get(
    "/apps/:slug/versions",
    {
      config,
      schema: {
        tags,
        operationId: "listVersions",
        summary: "List an app's versions",
        description: "The versions that were published, with their release notes.",
        params: appParams,
        querystring: listVersionsQuery,
        response: responses("A page of versions", { $ref: "AppVersionPage#" }, 404),
      },
    },
    async (request, reply) =>
      sendRepresentation(
        request,
        reply,
        await getVersions(options, request.params.slug, request.query as ListVersionsQuery),
      ),
  );

  routes.get(
    "/apps/:slug/client",
    {
      config,
      schema: {
        tags,
        operationId: "getClient",
        summary: "Get an app's OAuth client",
        description:
          "The client metadata (RFC 7591) of an app's published revision, to be registered at an EHR's authorization server. Its `client_id` is its own URL, so that it is a Client ID Metadata Document, too. It has at most 5 KiB. An unpublished app has one, because its subscribers stay.",
        params: appParams,
        response: responses(
          "The client's metadata",
          { $ref: "ClientMetadata#" },
          {
            404: "No app with that slug has been published, or it doesn't say how it signs in: see `detail`",
            410: "The app is suspended for security, until it is reinstated",
          },
        ),
      },
    },
    async (request, reply) => sendRepresentation(request, reply, await getClient(options, request.params.slug)),
  );

  routes.get(
    "/vendors/:slug",
    {
      config,
      schema: {
        tags,
        operationId: "getVendorProfile",
        summary: "Get a vendor's profile",
        description: "A vendor of published apps. `/apps?vendor=` lists them.",
        params: vendorParams,
        response: responses("The vendor", { $ref: "VendorProfile#" }, 404),
      },
    },
    async (request, reply) => sendRepresentation(request, reply, await getVendorProfile(options, request.params.slug)),
  );
}
