import { type Static, type TSchema, Type } from "typebox";
import { auditEntry, listAuditQuery } from "./audit.ts";
import { maxLookupLength, withoutNul } from "./catalog-requests.ts";
import { orgAliasPattern } from "./organisations.ts";
import type { PageQuery } from "./paging.ts";
import { instant, nullable, optionalUrl, url, uuid } from "./wire-types.ts";

/** Every answer of the EHR API: the spec's wrapper. */
export const succeeded = <T extends TSchema>(name: string, data: T) =>
  Type.Object(
    { success: Type.Literal(true), message: Type.String({ description: "Human-readable text" }), data },
    { $id: name, title: name },
  );

export const failure = Type.Object(
  { success: Type.Literal(false), message: Type.String({ description: "What happened, and why" }), data: Type.Null() },
  { $id: "Failure", title: "Failure" },
);
export type Failure = Static<typeof failure>;

export const appSlugParams = Type.Object({
  appSlug: Type.String({
    pattern: withoutNul,
    maxLength: maxLookupLength,
    description: "The app's slug",
    examples: ["northwind-scribe"],
  }),
});
export const orgAliasParams = Type.Object({
  alias: Type.String({ pattern: orgAliasPattern, maxLength: 64, description: "Organisation alias" }),
});

/** Whatever the app calls its settings; a Record's pattern would leave out names with a line break. */
const settings = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true, description });

const config = settings("What the organisation set; a value that the app keeps secret is null");

export const installationDto = Type.Object(
  {
    id: uuid("Installation identifier"),
    appId: uuid("App identifier"),
    appSlug: Type.String({ examples: ["northwind-scribe"] }),
    name: Type.String(),
    iconUrl: url("Icon location"),
    category: Type.String(),
    extensionPoints: Type.Array(Type.String()),
    smartLaunchUrl: optionalUrl("SMART App Launch URL; null when absent"),
    fhirScopes: Type.String({ description: "Space-separated list of FHIR scope strings" }),
    status: Type.Enum(["active", "paused"]),
    subscriptionId: uuid("The newest live subscription to it"),
    config,
    installedAt: instant("Installed"),
    updatedAt: instant("Last changed"),
  },
  { $id: "InstallationDto", title: "InstallationDto" },
);
export type InstallationDto = Static<typeof installationDto>;

export const installationAnswer = succeeded("InstallationAnswer", Type.Ref("InstallationDto#"));
export const installationsAnswer = succeeded("InstallationsAnswer", Type.Array(Type.Ref("InstallationDto#")));
export const installedAnswer = succeeded("InstalledAnswer", Type.Boolean());
export const configAnswer = succeeded("ConfigAnswer", settings("Every value as it was set"));
export const putConfigBody = settings(
  "The whole configuration; `null` for a value that the app keeps secret keeps the stored one",
);

/** FHIR's type `id`; UUIDs are such. */
const fhirIdPattern = "^[A-Za-z0-9.-]{1,64}$";
const fhirId = (description: string) => Type.String({ pattern: fhirIdPattern, maxLength: 64, description });

export const launchTypes = ["native", "smart", "standalone"] as const;
export const launchBody = Type.Object(
  {
    patientId: Type.Optional(fhirId("Patient in context: a FHIR id")),
    encounterId: Type.Optional(fhirId("Encounter in context: a FHIR id")),
    launchType: Type.Optional(
      Type.Enum([...launchTypes], {
        description: "By default `smart` where the app has a `smartLaunchUrl`, else `native`",
      }),
    ),
  },
  { additionalProperties: false },
);
export type LaunchBody = Static<typeof launchBody>;

export const launchDto = Type.Object(
  {
    launchId: uuid("Launch identifier, as in the launch log"),
    launchType: Type.Enum([...launchTypes]),
    launchedAt: instant("Launched"),
    launchUrl: nullable(Type.String({ format: "uri" }), "Where to send the browser; null for `native`"),
    expiresAt: nullable(
      instant("Until when the `launch` in `launchUrl` can be redeemed"),
      "null for `native` and `standalone`, where nothing expires",
    ),
  },
  { $id: "LaunchDto", title: "LaunchDto" },
);
export type LaunchDto = Static<typeof launchDto>;
export const launchAnswer = succeeded("LaunchAnswer", Type.Ref("LaunchDto#"));

export const launchLogEntry = Type.Object(
  {
    launchId: uuid("Launch identifier"),
    launchType: Type.Enum([...launchTypes]),
    user: Type.String({ description: "The token's subject" }),
    launchedAt: instant("Launched"),
  },
  { $id: "LaunchLogEntry", title: "LaunchLogEntry" },
);
export type LaunchLogEntry = Static<typeof launchLogEntry>;
export const launchLogAnswer = succeeded(
  "LaunchLogAnswer",
  Type.Object({
    items: Type.Array(Type.Ref("LaunchLogEntry#")),
    next: nullable(Type.String(), "Cursor of the next page, for `after`; null on the last one"),
  }),
);

export const consumeLaunchBody = Type.Object(
  {
    launch: Type.String({ minLength: 1, maxLength: 256, pattern: withoutNul }),
    orgAlias: Type.String({ minLength: 1, maxLength: 64, pattern: withoutNul }),
    appSlug: Type.String({ minLength: 1, maxLength: 64, pattern: withoutNul }),
    user: Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: withoutNul,
      description: "The subject of the user's token",
    }),
  },
  { additionalProperties: false },
);
export type ConsumeLaunchBody = Static<typeof consumeLaunchBody>;

export const launchContextDto = Type.Object(
  {
    patient: nullable(Type.String({ pattern: fhirIdPattern }), "Patient in context: a FHIR id"),
    encounter: nullable(Type.String({ pattern: fhirIdPattern }), "Encounter in context: a FHIR id"),
    orgAlias: Type.String(),
    appSlug: Type.String(),
    user: Type.String(),
  },
  { $id: "LaunchContextDto", title: "LaunchContextDto" },
);
export type LaunchContextDto = Static<typeof launchContextDto>;
export const launchContextAnswer = succeeded("LaunchContextAnswer", Type.Ref("LaunchContextDto#"));

export const putSecretBody = Type.Object(
  {
    secret: Type.String({
      minLength: 16,
      maxLength: 256,
      pattern: withoutNul,
      description: "The one that the marketplace signs with",
    }),
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        description: "How long the secret before still verifies; a day by default",
      }),
    ),
  },
  { additionalProperties: false },
);
export type PutSecretBody = Static<typeof putSecretBody>;
export const putSecretAnswer = succeeded(
  "PutSecretAnswer",
  Type.Object({
    orgAlias: Type.String(),
    previousUntil: nullable(instant("The secret before verifies until then"), "null where there is none"),
  }),
);

export const reconciliationAnswer = succeeded(
  "ReconciliationAnswer",
  Type.Object({
    orgAlias: Type.String(),
    checked: Type.Integer({ description: "Subscriptions that the marketplace listed" }),
    changed: Type.Integer({ description: "Of them, those that were not known as they are, or not confirmed" }),
    corrected: Type.Integer({
      description:
        "Of the changed ones, those whose stored state contradicted the list and claimed to be as new: forged, most likely",
    }),
    unlisted: Type.Integer({ description: "Installed here and not listed there: they are left as they are" }),
    reconciledAt: instant("Reconciled"),
  }),
);
export const webhookAnswer = succeeded("WebhookAnswer", Type.Null());

/** The marketplace's entry, with what the EHR records as examples. */
const action = { examples: ["installation.configure"] };
const { properties: entry } = auditEntry;
export const ehrAuditEntry = Type.Object(
  {
    ...entry,
    onBehalfOf: Type.String({ description: "The organisation whose affair it is" }),
    action: Type.String({ ...entry.action, ...action }),
    target: Type.Object(
      { kind: Type.String({ examples: ["installation"] }), id: Type.String() },
      { description: "What it was done to" },
    ),
  },
  { $id: "AuditEntry", title: "AuditEntry" },
);
export const ehrAuditQuery = Type.Object({
  ...listAuditQuery.properties,
  action: Type.Optional(Type.String({ maxLength: 100, pattern: withoutNul, description: "Only this", ...action })),
  orgAlias: Type.Optional(
    Type.String({ maxLength: 64, pattern: withoutNul, description: "Only what concerns this organisation" }),
  ),
});
export type EhrAuditQuery = Static<typeof ehrAuditQuery> & PageQuery;
export const auditAnswer = succeeded("AuditAnswer", Type.Ref("AuditPage#"));
