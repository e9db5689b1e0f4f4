import assert from "node:assert/strict";
import {
  adminAppDto,
  adminAppPage,
  adminAppSummary,
  appDto,
  appPage,
  appVersionDto,
  appVersionPage,
  auditEntry,
  auditPage,
  categoryDto,
  chargeLine,
  clientMetadata,
  connectionDto,
  connectionUpdatedEvent,
  creditDto,
  estimateDto,
  eventApp,
  failure,
  foundAppDto,
  importResult,
  listedSubscriptionDto,
  listingCheck,
  listingDraft,
  listingDto,
  listingPage,
  mediaDto,
  noticeDto,
  noticePage,
  noticeSettingsDto,
  organisationDto,
  organisationPage,
  organisationProfile,
  pricingPlanDto,
  problemDocument,
  quoteDto,
  reviewDto,
  reviewPage,
  revisionDto,
  revisionPage,
  searchSynonyms,
  spendLimitDto,
  statementDto,
  statementLine,
  statementPage,
  statementTotal,
  streamedStatement,
  subscriptionDto,
  subscriptionEvent,
  usageDto,
  usageReportedEvent,
  usageResults,
  vendorBalance,
  vendorDto,
  vendorPage,
  vendorProfile,
  vendorStatementDto,
  vendorStatementLine,
  vendorStatementPage,
  vendorTotal,
} from "@ehr-marketplace/contracts";
import { createStrictAjv } from "@ehr-marketplace/service-kit/http";
import { assertSecurityHeaders } from "./raw-response.ts";

const ajv = createStrictAjv({ allErrors: true });
const closeObject = (schema: object): object => ({ ...schema, additionalProperties: false });
const schemas = {
  AppDto: appDto,
  AppPage: appPage,
  AppVersionDto: appVersionDto,
  AppVersionPage: appVersionPage,
  AuditEntry: auditEntry,
  AuditPage: auditPage,
  CategoryDto: categoryDto,
  ClientMetadata: clientMetadata,
  ConnectionDto: connectionDto,
  ConnectionUpdatedEvent: connectionUpdatedEvent,
  EventApp: eventApp,
  Failure: failure,
  FoundAppDto: foundAppDto,
  ImportResult: importResult,
  ListedSubscriptionDto: listedSubscriptionDto,
  ListingCheck: listingCheck,
  ReviewDto: reviewDto,
  ReviewPage: reviewPage,
  RevisionDto: revisionDto,
  RevisionPage: revisionPage,
  AdminAppDto: adminAppDto,
  AdminAppPage: adminAppPage,
  AdminAppSummary: adminAppSummary,
  ListingDraft: listingDraft,
  ListingDto: listingDto,
  MediaDto: mediaDto,
  NoticeDto: noticeDto,
  NoticePage: noticePage,
  NoticeSettingsDto: noticeSettingsDto,
  ListingPage: listingPage,
  OrganisationDto: organisationDto,
  OrganisationPage: organisationPage,
  OrganisationProfile: organisationProfile,
  PricingPlanDto: pricingPlanDto,
  Problem: problemDocument,
  SearchSynonyms: searchSynonyms,
  ChargeLine: chargeLine,
  CreditDto: creditDto,
  EstimateDto: estimateDto,
  QuoteDto: quoteDto,
  SpendLimitDto: spendLimitDto,
  StatementDto: statementDto,
  StatementLine: statementLine,
  StatementPage: statementPage,
  StatementTotal: statementTotal,
  StreamedStatement: streamedStatement,
  SubscriptionDto: subscriptionDto,
  SubscriptionEvent: subscriptionEvent,
  UsageDto: usageDto,
  UsageReportedEvent: usageReportedEvent,
  UsageResults: usageResults,
  VendorBalance: vendorBalance,
  VendorDto: vendorDto,
  VendorPage: vendorPage,
  VendorProfile: vendorProfile,
  VendorStatementDto: vendorStatementDto,
  VendorStatementLine: vendorStatementLine,
  VendorStatementPage: vendorStatementPage,
  VendorTotal: vendorTotal,
};
for (const schema of Object.values(schemas)) ajv.addSchema(closeObject(schema));

/** Validates a value against a schema of the contracts. An additional field fails too. */
export function assertShape(name: keyof typeof schemas, value: unknown): void {
  const validate = ajv.getSchema(name);
  assert.ok(validate, `no schema is called ${name}`);
  assert.ok(validate(value), `${name}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)?.slice(0, 500)}`);
}

export async function assertProblem(
  response: Response,
  status: number,
  code: string,
): Promise<Record<string, unknown>> {
  const text = await response.text();
  assert.equal(response.status, status, text.slice(0, 300));
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  const problem = JSON.parse(text) as Record<string, unknown>;
  assertShape("Problem", problem);
  assert.equal(problem["code"], code);
  assert.equal(problem["status"], status);
  assert.equal(problem["type"], `/problems/${code}`);
  return problem;
}

/** Internal details that no message may expose: SQL, stack traces, files, addresses, names of libraries. */
const internalDetails =
  /\b(select|insert|update|delete) .*\b(from|into|set)\b|postgres|pgboss|fastify|FST_|node_modules|\.ts\b|\n\s+at |ECONN|127\.0\.0\.1/i;

/** Validates an error response of the EHR against the spec's wrapper and returns its message. */
export async function assertFailure(response: Response, status: number): Promise<string> {
  const text = await response.text();
  assert.equal(response.status, status, text.slice(0, 300));
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.equal(response.headers.get("cache-control"), "no-store");
  assertSecurityHeaders(response);
  const failed = JSON.parse(text) as { message: string };
  assertShape("Failure", failed);
  assert.ok(failed.message.trim() !== "", "the failure has a message");
  assert.doesNotMatch(failed.message, internalDetails);
  return failed.message;
}
