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
  type ReplayDto,
  replayDto,
  replayParams,
  type StartReplayBody,
  startReplayBody,
} from "./replays.ts";
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
export { type HeldEhrDto, heldEhrDto, type WebhookHealthDto, webhookHealthDto } from "./webhook-health.ts";
export {
  type AcceptedDelivery,
  acceptedDelivery,
  type ChangeWebhookBody,
  changeWebhookBody,
  deliveryStatuses,
  endpointStatuses,
  type ListDeliveriesQuery,
  listDeliveriesQuery,
  type RegisteredWebhookDto,
  type RegisterWebhookBody,
  type RotateSecretBody,
  registeredWebhookDto,
  registerWebhookBody,
  rotateSecretBody,
  type WebhookDeliveryDto,
  type WebhookDeliveryLog,
  type WebhookDeliveryLogPage,
  type WebhookDeliveryPage,
  type WebhookEndpointDto,
  type WebhookEndpointPage,
  type WebhookEventName,
  webhookDeliveryDto,
  webhookDeliveryLog,
  webhookDeliveryLogPage,
  webhookDeliveryPage,
  webhookDeliveryParams,
  webhookEndpointDto,
  webhookEndpointPage,
  webhookEventNames,
  webhookParams,
} from "./webhooks.ts";
