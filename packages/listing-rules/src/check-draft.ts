import { checkSchema } from "@ehr-marketplace/config-schema";
import type { ListingDraft } from "@ehr-marketplace/contracts";
import { type CdsDiscovery, checkCdsHooks, findHook } from "./check-cds-hooks.ts";
import { checkCharacters } from "./check-characters.ts";
import { checkKnownPlans, type KnownPlan } from "./check-known-plans.ts";
import { checkLinks } from "./check-links.ts";
import { checkMedia, type FindMedia } from "./check-media.ts";
import { checkOauth } from "./check-oauth.ts";
import { checkPlans } from "./check-plans.ts";
import { checkScopes, resourceScopesOf } from "./check-scopes.ts";
import { checkTexts } from "./check-texts.ts";
import { criteria, type ListingProblem, type Report } from "./criteria.ts";

/** What a draft is checked against. */
export interface CheckContext {
  categories: ReadonlySet<string>;
  extensionPoints: ReadonlySet<string>;
  findMedia: FindMedia;
  launchedInSandbox: boolean;
  /** What the discovery URL of the app returned last; null if none was read. */
  cdsDiscovery: CdsDiscovery | null;
  /** All plans of the app that are or were on sale. */
  knownPlans: readonly KnownPlan[];
  /** The currencies in which the marketplace limits usage by default. */
  usageCurrencies: ReadonlySet<string>;
  /** Whether URLs may be http on a loopback address, as on a developer's machine. */
  allowsHttp: boolean;
  /** Today in UTC, for example 2026-11-16. */
  today: string;
}

export interface DraftCheck {
  /** How many there are, also of those that `problems` doesn't list. */
  errors: number;
  warnings: number;
  /** At most 500, in the order of the draft's fields; warnings are left out before errors are. */
  problems: ListingProblem[];
}

/** More than anyone reads; a text of scopes alone can have thousands. */
const maxProblems = 500;

/** What the public sees is also in events and in the responses of the catalog. */
const maxPublicBytes = 64 * 1_024;

/** Finds every problem of a draft at once. Reads nothing but its arguments. */
export function checkDraft(draft: ListingDraft, context: CheckContext): DraftCheck {
  const found: ListingProblem[] = [];
  const counts = { error: 0, warning: 0 };
  const report: Report = (pointer, code, detail) => {
    const { severity } = criteria[code];
    counts[severity] += 1;
    if (counts[severity] <= maxProblems) found.push({ pointer, code, detail, severity });
  };
  checkAll(draft, context, report);
  let warningsListed = maxProblems - Math.min(counts.error, maxProblems);
  const problems = found.filter(({ severity }) => {
    if (severity === "warning") warningsListed -= 1;
    return severity === "error" || warningsListed >= 0;
  });
  return { errors: counts.error, warnings: counts.warning, problems };
}

function checkAll(draft: ListingDraft, context: CheckContext, report: Report): void {
  checkSize(draft, report);
  checkTexts(draft, report);
  checkCharacters(draft, report);
  checkPresentation(draft, context, report);
  checkCdsHooks(draft, context.cdsDiscovery, report);
  checkScopes(draft, report);
  checkOauth(draft, context, report);
  checkLinks(draft, context, report);
  for (const { pointer, code, detail } of draft.configSchema === undefined ? [] : checkSchema(draft.configSchema)) {
    report(`/configSchema${pointer}`, "config-schema-invalid", `${detail} (${code})`);
  }
  checkMedia(draft, context.findMedia, report);
  checkTrust(draft, context, report);
  checkPlans(draft.plans ?? [], context, report);
  checkKnownPlans(draft.plans ?? [], context.knownPlans, report);
  if (!context.launchedInSandbox) {
    report("", "not-launched-in-sandbox", "Install the draft in a sandbox organisation and launch it there once.");
  }
}

function checkSize({ reviewNotes: _notPublic, ...published }: ListingDraft, report: Report): void {
  const bytes = new TextEncoder().encode(JSON.stringify(published)).length;
  if (bytes > maxPublicBytes) {
    const detail = `Without reviewNotes it has ${bytes} bytes as JSON; the limit is ${maxPublicBytes}. Shorten its texts, or its configSchema.`;
    report("", "listing-too-large", detail);
  }
}

function checkPresentation(draft: ListingDraft, context: CheckContext, report: Report): void {
  const { category = "", audience, extensionPoints = [], cdsServicesUrl, smartLaunchUrl } = draft;
  if (!context.categories.has(category)) {
    const detail = `Use one of: ${[...context.categories].join(", ")}.`;
    report("/category", category === "" ? "text-missing" : "category-unknown", detail);
  }
  if (audience === undefined) {
    report("/audience", "audience-missing", "Say who uses the app: CLINICIAN, PATIENT or BACKEND.");
  }
  for (const [index, point] of extensionPoints.entries()) {
    if (extensionPoints.indexOf(point) !== index) {
      report(`/extensionPoints/${index}`, "extension-point-twice", "Remove it here.");
    } else if (!context.extensionPoints.has(point) && findHook(point) === undefined) {
      const detail = `Use one of ${[...context.extensionPoints].join(", ")}, or cds: and the name of a CDS Hook.`;
      report(`/extensionPoints/${index}`, "extension-point-unknown", detail);
    }
  }
  if (extensionPoints.some((point) => point.startsWith("cds:")) && cdsServicesUrl === undefined) {
    const detail = "The app uses CDS Hooks: name the URL where an EHR discovers its services.";
    report("/cdsServicesUrl", "cds-services-url-missing", detail);
  }
  const needsLaunch = resourceScopesOf(draft).some(({ context: of }) => of !== "system");
  if (needsLaunch && smartLaunchUrl === undefined) {
    const detail = "Scopes of a patient or a user are granted at a SMART launch: name the URL to launch at.";
    report("/smartLaunchUrl", "smart-launch-url-missing", detail);
  }
}

const dateAdvice = "Use a day of the calendar from 1900-01-01 on, as YYYY-MM-DD.";

/** PostgreSQL has no year 0, and a day such as 30 February is none. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < "1900-01-01") return false;
  const day = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function checkTrust(draft: ListingDraft, { today }: CheckContext, report: Report): void {
  const { audience, baaDocument, trust = {} } = draft;
  if (audience !== "PATIENT" && baaDocument === undefined && resourceScopesOf(draft).length > 0) {
    const detail =
      "The app reads health information: practices in the USA need a business associate agreement. Upload it.";
    report("/baaDocument", "baa-missing", detail);
  }
  for (const [index, { kind = "", validUntil }] of (trust.certifications ?? []).entries()) {
    const pointer = `/trust/certifications/${index}`;
    if (kind === "") report(`${pointer}/kind`, "certification-incomplete", "Say which certification it is.");
    if (validUntil === undefined) {
      report(`${pointer}/validUntil`, "certification-incomplete", "Say until when it is valid: a badge ends then.");
    } else if (!isDate(validUntil)) {
      report(`${pointer}/validUntil`, "date-invalid", dateAdvice);
    } else if (validUntil < today) {
      report(`${pointer}/validUntil`, "certification-expired", "It isn't shown any more: renew it, or remove it.");
    }
  }
  const reportDate = trust.accessibility?.reportDate;
  if (reportDate !== undefined && !isDate(reportDate)) {
    report("/trust/accessibility/reportDate", "date-invalid", dateAdvice);
  }
  const { ai } = trust;
  if (ai?.kind !== undefined && ai.kind !== "NONE" && ai.modelCard === undefined) {
    report("/trust/ai/modelCard", "model-card-missing", "Upload a document that describes the model, as a PDF.");
  }
}
