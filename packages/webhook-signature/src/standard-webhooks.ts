import { createHmac } from "node:crypto";
import { isSameText } from "./constant-time.ts";
import { type HeaderBag, headerValues } from "./header-bag.ts";
import { isRawBody, type RawBody, requireRawBody } from "./raw-body.ts";
import { requireUsableSecret, standardKey, usableSecrets } from "./secret-keys.ts";

/** Input of {@link standardHeaders}. */
export interface StandardDelivery {
  /** Identifies the delivery; the same for all its attempts. Visible ASCII characters, without a full stop. */
  id: string;
  /** The time of this attempt: a date, or whole seconds since 1970. */
  timestamp: Date | number;
  /** The body, exactly as it will be sent. */
  body: RawBody;
  /** All active secrets; each adds a signature, in this order. */
  secrets: readonly string[];
}

/** The three headers of Standard Webhooks. */
export type StandardHeaders = {
  "webhook-id": string;
  "webhook-timestamp": string;
  "webhook-signature": string;
};

/** Input of {@link verifyStandard} and `verifyWebhook`. */
export interface StandardVerification {
  /** The headers of the request. */
  headers: HeaderBag;
  /** The body as received, before parsing. */
  body: RawBody;
  /** All active secrets: during a rotation the current one and the next. */
  secrets: readonly string[];
  /** The current time: a date, or seconds since 1970. Default: the system clock. */
  now?: Date | number | undefined;
  /** The maximum difference between the attempt's time and `now`, in both directions. Default: 300 seconds. */
  toleranceSeconds?: number | undefined;
}

/**
 * Why a delivery was refused. `too-old` and `too-new` are returned only if the signature is valid: either a clock is wrong, or a
 * recorded delivery was replayed.
 */
export type StandardRejection =
  | "missing-header"
  | "repeated-header"
  | "malformed-id"
  | "malformed-timestamp"
  | "body-not-raw"
  | "no-usable-secret"
  | "no-match"
  | "too-old"
  | "too-new";

/** The result of {@link verifyStandard}. */
export type StandardResult = { valid: true } | { valid: false; reason: StandardRejection };

// A full stop in the id would make the signed text ambiguous: the end of the timestamp could be read as the start of the body.
const idPattern = /^[\x21-\x2d\x2f-\x7e]+$/;
// At most 12 digits: 13 digits would be milliseconds.
const timestampPattern = /^[0-9]{1,12}$/;

function toSeconds(time: Date | number): number {
  return Math.floor(typeof time === "number" ? time : time.getTime() / 1000);
}

function standardSignature(id: string, timestamp: string, body: RawBody, secret: string): string {
  const hmac = createHmac("sha256", standardKey(secret)).update(`${id}.${timestamp}.`, "utf8").update(body);
  return `v1,${hmac.digest("base64")}`;
}

/**
 * Creates the headers of Standard Webhooks for one attempt of a delivery. The key of a secret `whsec_…` is decoded from Base64; the
 * key of any other secret is its UTF-8 bytes.
 *
 * @throws TypeError if there is no secret, a secret is unusable, or the id, the timestamp or the body is invalid.
 */
export function standardHeaders({ id, timestamp, body, secrets }: StandardDelivery): StandardHeaders {
  const seconds = String(typeof timestamp === "number" ? timestamp : toSeconds(timestamp));
  if (typeof id !== "string" || !idPattern.test(id))
    throw new TypeError("The id of a delivery must be visible ASCII without a full stop.");
  if (!timestampPattern.test(seconds)) {
    throw new TypeError("The timestamp of a delivery must be a valid date or whole seconds since 1970.");
  }
  requireRawBody(body);
  if (!Array.isArray(secrets) || secrets.length === 0) throw new TypeError("At least one secret is required to sign.");
  for (const secret of secrets) requireUsableSecret(secret);

  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": secrets.map((secret) => standardSignature(id, seconds, body, secret)).join(" "),
  };
}

/**
 * Verifies that one of the secrets signed this delivery, within the tolerance. For any input from the sender it returns a reason
 * and doesn't throw.
 */
export function verifyStandard({
  headers,
  body,
  secrets,
  now = new Date(),
  toleranceSeconds = 300,
}: StandardVerification): StandardResult {
  const ids = headerValues(headers, "webhook-id");
  const timestamps = headerValues(headers, "webhook-timestamp");
  const signatures = headerValues(headers, "webhook-signature");
  if ([ids, timestamps, signatures].some((values) => values.length > 1)) return reject("repeated-header");

  const [[id], [timestamp], [signature]] = [ids, timestamps, signatures];
  if (id === undefined || timestamp === undefined || signature === undefined) return reject("missing-header");
  if (!idPattern.test(id)) return reject("malformed-id");
  if (!timestampPattern.test(timestamp)) return reject("malformed-timestamp");
  if (!isRawBody(body)) return reject("body-not-raw");
  const usable = usableSecrets(secrets);
  if (usable.length === 0) return reject("no-usable-secret");

  const candidates = signature.split(" ");
  const matches = usable
    .map((secret) => standardSignature(id, timestamp, body, secret))
    .some((expected) => candidates.some((candidate) => isSameText(expected, candidate)));
  if (!matches) return reject("no-match");

  // Written as negations, so that a `now` or a tolerance of NaN refuses every delivery.
  const age = toSeconds(now) - Number(timestamp);
  if (!(age <= toleranceSeconds)) return reject("too-old");
  if (!(-age <= toleranceSeconds)) return reject("too-new");
  return { valid: true };
}

function reject(reason: StandardRejection): StandardResult {
  return { valid: false, reason };
}
