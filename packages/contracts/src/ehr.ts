import { type Static, type TSchema, Type } from "typebox";
import { auditEntry, describeActionFilter, listAuditQuery } from "./audit.ts";
import { maxLookupLength, noNulPattern } from "./catalog-requests.ts";
import { orgAliasPattern } from "./organisations.ts";
import { nextCursor, type PageQuery, pageQuery } from "./paging.ts";
import { allPauseReasons } from "./subscriptions.ts";
import { instant, nullable, optionalUrl, url, uuid } from "./wire-types.ts";

/** The response envelope of the EHR API, as the specification defines it. */
export const successResponse = <T extends TSchema>(name: string, data: T) =>
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
    pattern: noNulPattern,
    maxLength: maxLookupLength,
    description: "The app's slug",
    examples: ["northwind-scribe"],
  }),
});
export const orgAliasParams = Type.Object({
  alias: Type.String({ pattern: orgAliasPattern, maxLength: 64, description: "Organisation alias" }),
});

/** An object with any property names. Type.Record isn't used, because its pattern excludes names with a line break. */
const settings = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true, description });

const config = settings("The organisation's configuration; secret values are null");

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
    cdsServicesUrl: optionalUrl(
      "CDS Hooks discovery URL: its services are called at the hooks that `extensionPoints` has as `cds:`; null when absent",
    ),
    fhirScopes: Type.String({
      description: "The scopes of the app that the organisation has agreed to, separated by spaces",
    }),
    status: Type.Enum(["active", "paused"]),
    subscriptionId: uuid("The newest live subscription to the app"),
    connection: nullable(
      Type.Object({
        status: Type.Enum(["pending", "ready", "failed"]),
        clientId: nullable(Type.String(), "The app's `client_id` at the authorization server; null until it is known"),
        reason: nullable(Type.String(), "Why it isn't ready, or what is wrong with it"),
      }),
      "Whether the app can sign in: its OAuth client; null for an app that has none",
    ),
    config,
    installedAt: instant("Installed"),
    updatedAt: instant("Last changed"),
  },
  { $id: "InstallationDto", title: "InstallationDto" },
);
export type InstallationDto = Static<typeof installationDto>;

export const installationResponse = successResponse("InstallationResponse", Type.Ref("InstallationDto#"));
export const installationsResponse = successResponse("InstallationsResponse", Type.Array(Type.Ref("InstallationDto#")));
export const installedResponse = successResponse("InstalledResponse", Type.Boolean());
export const configResponse = successResponse("ConfigResponse", settings("All values, as they were set"));
export const putConfigBody = settings("The whole configuration; `null` for a secret value keeps the stored one");

/** FHIR's type `id`, which includes UUIDs. */
const fhirIdPattern = "^[A-Za-z0-9.-]{1,64}$";
const fhirId = (description: string) =>
  Type.String({
    pattern: fhirIdPattern,
    maxLength: 64,
    "x-error-message": "must be a FHIR id: 1 to 64 letters, digits, hyphens and dots",
    description,
    examples: ["example-patient.1"],
  });

export const launchTypes = ["native", "smart", "standalone"] as const;
export const launchBody = Type.Object(
  {
    patientId: Type.Optional(fhirId("Patient in context: a FHIR id")),
    encounterId: Type.Optional(fhirId("Encounter in context: a FHIR id")),
    launchType: Type.Optional(
      Type.Enum([...launchTypes], {
        description: "Default: `smart` if the app has a `smartLaunchUrl`, otherwise `native`",
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
    launchUrl: nullable(Type.String({ format: "uri" }), "URL to open in the browser; null for `native`"),
    expiresAt: nullable(
      instant("When the `launch` in `launchUrl` expires"),
      "null for `native` and `standalone`, which don't expire",
    ),
  },
  { $id: "LaunchDto", title: "LaunchDto" },
);
export type LaunchDto = Static<typeof launchDto>;
export const launchResponse = successResponse("LaunchResponse", Type.Ref("LaunchDto#"));

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
export const launchLogResponse = successResponse(
  "LaunchLogResponse",
  Type.Object({
    items: Type.Array(Type.Ref("LaunchLogEntry#")),
    next: nullable(Type.String(), "Cursor of the next page, for `after`; null on the last one"),
  }),
);

export const consumeLaunchBody = Type.Object(
  {
    launch: Type.String({ minLength: 1, maxLength: 256, pattern: noNulPattern }),
    orgAlias: Type.String({ minLength: 1, maxLength: 64, pattern: noNulPattern }),
    appSlug: Type.String({ minLength: 1, maxLength: 64, pattern: noNulPattern }),
    user: Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: noNulPattern,
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
    fhirScopes: Type.String({
      description: "The scopes of the app that the organisation has agreed to, separated by spaces: grant no others",
    }),
    subscriptionId: uuid("The organisation's subscription to the app"),
  },
  { $id: "LaunchContextDto", title: "LaunchContextDto" },
);
export type LaunchContextDto = Static<typeof launchContextDto>;
export const launchContextResponse = successResponse("LaunchContextResponse", Type.Ref("LaunchContextDto#"));

export const putSecretBody = Type.Object(
  {
    secret: Type.String({
      minLength: 16,
      maxLength: 256,
      pattern: noNulPattern,
      description: "The secret that the marketplace signs with",
    }),
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        description: "How long the previous secret remains valid; a day by default",
      }),
    ),
  },
  { additionalProperties: false },
);
export type PutSecretBody = Static<typeof putSecretBody>;
export const importedSecret = Type.Object(
  { ...orgAliasParams.properties, ...putSecretBody.properties },
  { additionalProperties: false },
);
export type ImportedSecret = Static<typeof importedSecret>;
export const putSecretResponse = successResponse(
  "PutSecretResponse",
  Type.Object({
    orgAlias: Type.String(),
    previousUntil: nullable(instant("When the previous secret expires"), "null if there is no previous secret"),
  }),
);

export const reconciliationResponse = successResponse(
  "ReconciliationResponse",
  Type.Object({
    orgAlias: Type.String(),
    checked: Type.Integer({ description: "Subscriptions that the marketplace listed" }),
    changed: Type.Integer({
      description: "Listed subscriptions whose stored state was missing, different or unconfirmed",
    }),
    corrected: Type.Integer({
      description:
        "Changed subscriptions whose stored state contradicted the list with the same or a later timestamp, probably from a forged event",
    }),
    unlisted: Type.Integer({ description: "Installations without a listed subscription; they are not changed" }),
    withheld: Type.Integer({
      description: "Listed subscriptions that are not changed, because an operator decides: `GET /admin/differences`",
    }),
    skipped: Type.Integer({ description: "Invalid records of the list; their subscriptions are not changed" }),
    reconciledAt: instant("Reconciled"),
  }),
);

const differingState = <Status extends TSchema>(status: Status, of: string) =>
  Type.Object({
    status,
    pauseReason: nullable(Type.Enum([...allPauseReasons]), "null unless it is paused, or if the reason isn't known"),
    asOf: instant(of),
  });
export const differenceDto = Type.Object(
  {
    id: uuid("Difference identifier"),
    orgAlias: Type.String(),
    subscriptionId: uuid("The subscription"),
    appSlug: Type.String({ examples: ["northwind-scribe"] }),
    stored: differingState(
      Type.Enum(["paused", "cancelled"]),
      "When it changed to this state, as the marketplace's event said",
    ),
    listed: differingState(Type.Enum(["active", "paused"]), "When it last changed, as the marketplace's list says"),
    foundAt: instant("Found by reconciliation"),
    keptAt: nullable(instant("When an operator decided to keep the stored state"), "null: it waits for the decision"),
  },
  { $id: "DifferenceDto", title: "DifferenceDto" },
);
export type DifferenceDto = Static<typeof differenceDto>;
export const differenceResponse = successResponse("DifferenceResponse", Type.Ref("DifferenceDto#"));
export const differencesResponse = successResponse(
  "DifferencesResponse",
  Type.Object({ items: Type.Array(Type.Ref("DifferenceDto#")), next: nextCursor }),
);
export const differenceParams = Type.Object({ id: uuid("The difference's identifier") });
export const listDifferencesQuery = Type.Object({
  ...pageQuery.properties,
  kept: Type.Optional(Type.Boolean({ description: "true: those that were kept. Otherwise, those that wait" })),
});
export type ListDifferencesQuery = Static<typeof listDifferencesQuery> & PageQuery;

export const webhookResponse = successResponse("WebhookResponse", Type.Null());

/** The marketplace's audit entry, with examples of the EHR's actions. */
const action = { examples: ["installation.configure"] };
const { properties: entry } = auditEntry;
export const ehrAuditEntry = Type.Object(
  {
    ...entry,
    onBehalfOf: Type.String({ description: "The organisation that the action concerns; `*`: all of them" }),
    action: Type.String({ ...entry.action, ...action }),
    target: Type.Object(
      { kind: Type.String({ examples: ["installation"] }), id: Type.String() },
      { description: "The object of the action" },
    ),
  },
  { $id: "AuditEntry", title: "AuditEntry" },
);
const ehrActions = [
  "organisation.put-secret",
  "organisation.reconcile",
  "installation.configure",
  "installation.read-config",
  "launch-context.redeem",
  "client.put",
  "client.delete",
  "client.retry",
  "difference.apply",
  "difference.keep",
];
export const ehrAuditQuery = Type.Object({
  ...listAuditQuery.properties,
  action: Type.Optional(
    Type.String({ maxLength: 100, pattern: noNulPattern, description: describeActionFilter(ehrActions), ...action }),
  ),
  orgAlias: Type.Optional(
    Type.String({ maxLength: 64, pattern: noNulPattern, description: "Only entries that concern this organisation" }),
  ),
});
export type EhrAuditQuery = Static<typeof ehrAuditQuery> & PageQuery;
export const auditResponse = successResponse("AuditResponse", Type.Ref("AuditPage#"));
