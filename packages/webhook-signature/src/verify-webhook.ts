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

/** Which signature was looked at: the `webhook-…` headers, or `X-Marketplace-Signature`. */
export type WebhookScheme = "standard-webhooks" | "marketplace";

/** The answer of {@link verifyWebhook}. */
export type WebhookResult =
  | { valid: true; scheme: WebhookScheme }
  | { valid: false; scheme: WebhookScheme; reason: StandardRejection };

const marketplaceHeader = "x-marketplace-signature";

/**
 * Verifies a delivery by whichever signature it carries. The headers of Standard Webhooks come first, because they have
 * a time; where any of them is there, or none of either scheme, only they count. A delivery that they refuse is not
 * tried again by `X-Marketplace-Signature`.
 *
 * Whoever recorded a delivery can leave out the headers with the time. Where that matters, take {@link verifyStandard},
 * or accept the scheme `standard-webhooks` only.
 */
export function verifyWebhook(delivery: StandardVerification): WebhookResult {
  const scheme = schemeOf(delivery);
  const result = scheme === "marketplace" ? verifyMarketplace(delivery) : verifyStandard(delivery);
  return { ...result, scheme };
}

function schemeOf({ headers }: StandardVerification): WebhookScheme {
  const isThere = (name: string): boolean => headerValues(headers, name).length > 0;
  const standard = ["webhook-id", "webhook-timestamp", "webhook-signature"].some(isThere);
  return !standard && isThere(marketplaceHeader) ? "marketplace" : "standard-webhooks";
}

function verifyMarketplace({ headers, body, secrets }: StandardVerification): StandardResult {
  const [signature, ...more] = headerValues(headers, marketplaceHeader);
  if (more.length > 0) return { valid: false, reason: "repeated-header" };
  if (!isRawBody(body)) return { valid: false, reason: "body-not-raw" };
  if (usableSecrets(secrets).length === 0) return { valid: false, reason: "no-usable-secret" };
  return verifyBody({ body, signature, secrets }) ? { valid: true } : { valid: false, reason: "no-match" };
}
