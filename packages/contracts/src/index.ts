export { type AuditEntry, type AuditPage, auditEntry, auditPage } from "./audit.ts";
export {
  type AppDto,
  type AppPage,
  appDto,
  appPage,
  type CategoryDto,
  categoryDto,
  type PricingPlanDto,
  pricingPlanDto,
} from "./catalog.ts";
export {
  type ListAppsQuery,
  listAppsQuery,
  type SearchAppsQuery,
  searchAppsQuery,
  slugPattern,
  sortProperties,
  withoutNul,
} from "./catalog-requests.ts";
export {
  type EventApp,
  eventApp,
  type SubscriptionEvent,
  type SubscriptionEventName,
  subscriptionEvent,
  subscriptionEventNames,
} from "./events.ts";
export {
  type OrganisationDto,
  type OrganisationPage,
  orgAliasPattern,
  organisationDto,
  organisationPage,
  organisationParams,
  type PutOrganisation,
  putOrganisation,
} from "./organisations.ts";
export { type PageQuery, pageQuery } from "./paging.ts";
export { type ProblemDocument, problemDocument } from "./problem.ts";
export {
  type CreateSubscriptionBody,
  createSubscriptionBody,
  type ListSubscriptionsQuery,
  listSubscriptionsQuery,
  type PauseSubscriptionBody,
  pauseReasons,
  pauseSubscriptionBody,
  type SubscriptionDto,
  subscriptionDto,
  subscriptionParams,
  subscriptionStatuses,
} from "./subscriptions.ts";
