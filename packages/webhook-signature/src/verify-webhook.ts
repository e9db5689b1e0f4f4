import { verifyBody } from "./body-signature.ts";
import { headerValues } from "./header-bag.ts";
import { isRawBody } from "./raw-body.ts";
import { usableSecrets } from "./secret-keys.ts";
import {
  type StandardRejection,
  type StandardResult,
  type StandardVerification,
  verifyStandard,
} from "./standard-webhooks.ts";

/** Which signature was verified: the `webhook-…` headers, or `X-Marketplace-Signature`. */
export type WebhookScheme = "standard-webhooks" | "marketplace";

/** The result of {@link verifyWebhook}. */
export type WebhookResult =
  | { valid: true; scheme: WebhookScheme }
  | { valid: false; scheme: WebhookScheme; reason: StandardRejection };

const marketplaceHeader = "x-marketplace-signature";

/**
 * Verifies a delivery by the signature that it carries. Standard Webhooks take precedence, because they include a timestamp:
 * `X-Marketplace-Signature` is used only if none of the `webhook-…` headers is present, and never after they were refused.
 *
 * An attacker can replay a recorded delivery without the `webhook-…` headers, and so without a timestamp. To prevent that, use
 * {@link verifyStandard}, or accept the scheme `standard-webhooks` only.
 */
export function verifyWebhook(delivery: StandardVerification): WebhookResult {
  const scheme = selectScheme(delivery);
  const result = scheme === "marketplace" ? verifyMarketplace(delivery) : verifyStandard(delivery);
  return { ...result, scheme };
}

function selectScheme({ headers }: StandardVerification): WebhookScheme {
  const isPresent = (name: string): boolean => headerValues(headers, name).length > 0;
  const standard = ["webhook-id", "webhook-timestamp", "webhook-signature"].some(isPresent);
  return !standard && isPresent(marketplaceHeader) ? "marketplace" : "standard-webhooks";
}

function verifyMarketplace({ headers, body, secrets }: StandardVerification): StandardResult {
  const [signature, ...more] = headerValues(headers, marketplaceHeader);
  if (more.length > 0) return { valid: false, reason: "repeated-header" };
  if (!isRawBody(body)) return { valid: false, reason: "body-not-raw" };
  if (usableSecrets(secrets).length === 0) return { valid: false, reason: "no-usable-secret" };
  return verifyBody({ body, signature, secrets }) ? { valid: true } : { valid: false, reason: "no-match" };
}
