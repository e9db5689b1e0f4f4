import { type Static, Type } from "typebox";
import { nextCursor } from "./paging.ts";
import { currency, instant, nullable, optionalUrl, rate, url, uuid } from "./wire-types.ts";

const pricingModel = Type.Union(
  [Type.Literal("FREE"), Type.Literal("FLAT"), Type.Literal("PER_UNIT"), Type.Literal("TIERED"), Type.Literal("USAGE")],
  { description: "How a plan charges" },
);
const interval = Type.Union([Type.Literal("MONTH"), Type.Literal("YEAR"), Type.Null()], {
  description: "Billing interval; null if nothing recurs",
});

export const appDto = Type.Object(
  {
    id: uuid("App identifier"),
    slug: Type.String({ description: "URL-safe app key used in paths", examples: ["northwind-scribe"] }),
    name: Type.String({ description: "Display name" }),
    summary: Type.String({ description: "One sentence for lists" }),
    description: Type.String({ description: "What the app does, in Markdown" }),
    iconUrl: url("Icon location"),
    category: Type.String({ description: "Upper-case category value; see `/apps/categories`" }),
    vendor: Type.Object(
      { slug: Type.String(), name: Type.String(), websiteUrl: optionalUrl("The vendor's site") },
      { description: "The app's vendor" },
    ),
    version: Type.String({ description: "Published version" }),
    featured: Type.Boolean({ description: "Whether the marketplace recommends it" }),
    audience: Type.Union([Type.Literal("CLINICIAN"), Type.Literal("PATIENT"), Type.Literal("BACKEND"), Type.Null()], {
      description: "Who uses the app; null if its vendor hasn't said",
    }),
    extensionPoints: Type.Array(Type.String(), {
      description: "Extension points of the EHR user interface that the app uses",
      examples: [["patient-chart-tab", "cds:order-sign"]],
    }),
    smartLaunchUrl: optionalUrl("SMART App Launch URL; null when absent"),
    cdsServicesUrl: optionalUrl("CDS Hooks discovery URL; null when absent"),
    fhirScopes: Type.String({ description: "Space-separated list of FHIR scope strings" }),
    scopePurposes: Type.Record(Type.String(), Type.String(), { description: "Why the app needs each scope" }),
    screenshots: Type.Array(url("Screenshot location"), { description: "Screenshots of the app, in order" }),
    screenshotTexts: Type.Array(Type.String(), {
      description: "The screenshots' alternative texts, in the same order",
    }),
    websiteUrl: optionalUrl("The app's site"),
    supportUrl: optionalUrl("Where users get help"),
    privacyPolicyUrl: optionalUrl("Privacy policy"),
    termsUrl: optionalUrl("Terms of service"),
    pricingModels: Type.Array(pricingModel, { description: "The distinct pricing models of its plans" }),
    startingPrice: nullable(
      Type.Object({
        amount: Type.Integer({ minimum: 0, description: "In the currency's minor unit" }),
        currency,
        interval,
      }),
      "The lowest fixed price of its plans; null if all plans are charged by tier or usage",
    ),
    configSchema: nullable(
      Type.Object({}, { additionalProperties: true }),
      "JSON Schema 2020-12 of the app's configuration, within a documented profile; null if it has none",
    ),
    baaAvailable: Type.Boolean({ description: "Whether the vendor signs a business associate agreement" }),
    baaRequired: Type.Boolean({
      description: "Whether subscribing requires accepting the vendor's business associate agreement (`acceptBaa`)",
    }),
    baaUrl: optionalUrl("The business associate agreement, a PDF; null when absent"),
    baaSha256: Type.Optional(
      nullable(
        Type.String(),
        "SHA-256 of the business associate agreement, in hexadecimal digits: value for `baaSha256` of a new subscription. Null or absent without one",
      ),
    ),
    trust: nullable(
      Type.Object(
        {
          certifications: Type.Optional(
            Type.Array(
              Type.Object({
                kind: Type.String(),
                validUntil: Type.String({ description: "Last day of its validity" }),
                evidenceUrl: Type.Optional(Type.String()),
                verifiedBy: nullable(
                  Type.Literal("operator"),
                  "Who verified the evidence; null if only the vendor says so",
                ),
              }),
              { description: "Those that haven't ended" },
            ),
          ),
          dataHandling: Type.Optional(
            Type.Object({
              regions: Type.Optional(Type.Array(Type.String())),
              retentionDays: Type.Optional(Type.Integer()),
              deletionDays: Type.Optional(Type.Integer()),
              subprocessors: Type.Optional(Type.Array(Type.String())),
              phiInLogs: Type.Optional(Type.Boolean()),
              trainsOnData: Type.Optional(Type.Boolean()),
            }),
          ),
          accessibility: Type.Optional(
            Type.Object({
              standard: Type.Optional(Type.String()),
              reportUrl: Type.Optional(Type.String()),
              reportDate: Type.Optional(Type.String()),
            }),
          ),
          ai: Type.Optional(
            Type.Object({ kind: Type.Optional(Type.String()), modelCard: Type.Optional(Type.String()) }),
          ),
        },
        { description: "What practices base their trust on, as the vendor states it" },
      ),
      "Trust facts; null if the vendor states none",
    ),
    publishedAt: instant("First published"),
    updatedAt: instant("Last changed"),
  },
  { $id: "AppDto", title: "AppDto" },
);
export type AppDto = Static<typeof appDto>;

const highlightedText = (description: string) =>
  Type.Optional(
    Type.Array(Type.Object({ text: Type.String(), match: Type.Boolean() }), {
      description: `${description}; absent if nothing in it matches`,
      examples: [
        [
          { text: "Video visits", match: true },
          { text: " that open from the schedule", match: false },
        ],
      ],
    }),
  );
export type HighlightedText = { text: string; match: boolean }[];

export const foundAppDto = Type.Object(
  {
    ...appDto.properties,
    highlights: Type.Optional(
      Type.Object(
        {
          name: highlightedText("The name in parts"),
          summary: highlightedText("The summary in parts"),
          description: highlightedText("An excerpt of the description in parts"),
        },
        { description: "What matched, with `highlight=true`" },
      ),
    ),
  },
  { $id: "FoundAppDto", title: "FoundAppDto" },
);
export type FoundAppDto = Static<typeof foundAppDto>;

const sortState = Type.Object({ sorted: Type.Boolean(), unsorted: Type.Boolean(), empty: Type.Boolean() });

/** `Page<AppDto>` in the format of Spring Data. */
export const appPage = Type.Object(
  {
    content: Type.Array(Type.Ref("AppDto#")),
    pageable: Type.Object({
      pageNumber: Type.Integer(),
      pageSize: Type.Integer(),
      offset: Type.Integer(),
      paged: Type.Boolean(),
      unpaged: Type.Boolean(),
      sort: sortState,
    }),
    totalElements: Type.Integer({ minimum: 0 }),
    totalPages: Type.Integer({ minimum: 0 }),
    last: Type.Boolean(),
    first: Type.Boolean(),
    size: Type.Integer(),
    number: Type.Integer({ description: "The page's number, from 0" }),
    numberOfElements: Type.Integer({ minimum: 0 }),
    sort: sortState,
    empty: Type.Boolean(),
  },
  { $id: "AppPage", title: "Page<AppDto>" },
);
export type AppPage = Omit<Static<typeof appPage>, "content"> & { content: AppDto[] };

export const categoryDto = Type.Object(
  {
    category: Type.String({ description: "Value for the `category` filter", examples: ["DOCUMENTATION"] }),
    name: Type.String(),
    description: Type.String(),
    appCount: Type.Integer({ minimum: 0, description: "Number of published apps" }),
  },
  { $id: "CategoryDto", title: "CategoryDto" },
);
export type CategoryDto = Static<typeof categoryDto>;

export const vendorProfile = Type.Object(
  {
    slug: Type.String({ description: "Value for the `vendor` filter of `/apps`", examples: ["northwind-health"] }),
    name: Type.String({ description: "Display name" }),
    websiteUrl: optionalUrl("The vendor's site"),
    supportEmail: nullable(Type.String(), "Where practices get help"),
    securityContact: nullable(Type.String(), "Where security problems are reported: an email address or an https URL"),
    appCount: Type.Integer({ minimum: 1, description: "Number of published apps" }),
  },
  { $id: "VendorProfile", title: "VendorProfile" },
);
export type VendorProfile = Static<typeof vendorProfile>;

export const appVersionDto = Type.Object(
  {
    version: Type.String({ description: "As the vendor names it", examples: ["2.1.0"] }),
    releaseNotes: nullable(Type.String(), "What was new, in Markdown; null if the vendor wrote nothing"),
    publishedAt: instant("Approved by the marketplace"),
  },
  { $id: "AppVersionDto", title: "AppVersionDto" },
);
export type AppVersionDto = Static<typeof appVersionDto>;

export const appVersionPage = Type.Object(
  {
    items: Type.Array(Type.Ref("AppVersionDto#"), { description: "Newest first: on the first page, the current one" }),
    next: nextCursor,
  },
  { $id: "AppVersionPage", title: "AppVersionPage" },
);
export type AppVersionPage = { items: AppVersionDto[]; next: string | null };

const tier = Type.Object({
  upTo: nullable(Type.Integer({ minimum: 1 }), "Last unit of the tier; null for the last tier"),
  unitAmount: rate,
  flatAmount: Type.Integer({ minimum: 0 }),
});

export const pricingPlanDto = Type.Object(
  {
    id: uuid("Value for `pricingPlanId` of a new subscription"),
    name: Type.String(),
    description: Type.String(),
    pricingModel,
    currency,
    amount: nullable(rate, "FLAT: per interval; PER_UNIT: per unit and interval; USAGE: per unit of the metric"),
    interval,
    trialDays: Type.Integer({ minimum: 0 }),
    unitName: nullable(Type.String(), "Name of the unit, for PER_UNIT and TIERED"),
    includedUnits: nullable(Type.Integer({ minimum: 0 }), "Units included in the price"),
    tiers: Type.Array(tier),
    tierMode: Type.Union([Type.Literal("GRADUATED"), Type.Literal("VOLUME"), Type.Null()], {
      description: "GRADUATED: each tier's units at its own price; VOLUME: all units at the price of the tier reached",
    }),
    metric: nullable(Type.String(), "Metric of the usage, for USAGE"),
    aggregation: Type.Union(
      [Type.Literal("SUM"), Type.Literal("COUNT"), Type.Literal("MAX"), Type.Literal("LATEST"), Type.Null()],
      { description: "How reported usage is aggregated to the charged quantity" },
    ),
    features: Type.Array(Type.String()),
  },
  { $id: "PricingPlanDto", title: "PricingPlanDto" },
);
export type PricingPlanDto = Static<typeof pricingPlanDto>;
