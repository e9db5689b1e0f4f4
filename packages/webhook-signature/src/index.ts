export type { BodyVerification } from "./body-signature.ts";
export { signBody, verifyBody } from "./body-signature.ts";
export type { HeaderBag } from "./header-bag.ts";
export type { RawBody } from "./raw-body.ts";
export { isUsableSecret } from "./secret-keys.ts";
export type {
  StandardDelivery,
  StandardHeaders,
  StandardRejection,
  StandardResult,
  StandardVerification,
} from "./standard-webhooks.ts";
export { standardHeaders, verifyStandard } from "./standard-webhooks.ts";
export type { WebhookResult, WebhookScheme } from "./verify-webhook.ts";
export { verifyWebhook } from "./verify-webhook.ts";
