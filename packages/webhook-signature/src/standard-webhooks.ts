import { createHmac } from "node:crypto";
import { isSameText } from "./constant-time.ts";
import { type HeaderBag, headerValues } from "./header-bag.ts";
import { isRawBody, type RawBody, requireRawBody } from "./raw-body.ts";
import { requireUsableSecret, standardKey, usableSecrets } from "./secret-keys.ts";

/** What {@link standardHeaders} signs. */
export interface StandardDelivery {
  /** Names the delivery, and stays the same over its attempts. Visible ASCII characters, without a full stop. */
  id: string;
  /** When this attempt is made: a date, or whole seconds since 1970. */
  timestamp: Date | number;
  /** The body, byte for byte as it will be sent. */
  body: RawBody;
  /** Every live secret; each adds a signature, in this order. */
  secrets: readonly string[];
}

/** The three headers of Standard Webhooks. */
export type StandardHeaders = {
  "webhook-id": string;
  "webhook-timestamp": string;
  "webhook-signature": string;
};

/** What {@link verifyStandard} needs. */
export interface StandardVerification {
  /** The headers of the request, in any of the usual forms. */
  headers: HeaderBag;
  /** The body as it was received, before anything parsed it. */
  body: RawBody;
  /** Every secret that is live: during a rotation the old one and the next. */
  secrets: readonly string[];
  /** The time to compare with: a date, or seconds since 1970. By default the clock's. */
  now?: Date | number | undefined;
  /** How far the attempt's time may lie before or after `now`; 300 seconds unless told otherwise. */
  toleranceSeconds?: number | undefined;
}

/**
 * Why a delivery was not accepted. `too-old` and `too-new` are only said of genuine signatures: then a clock is wrong,
 * or somebody sends a recorded delivery again.
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

/** The answer of {@link verifyStandard}. */
export type StandardResult = { valid: true } | { valid: false; reason: StandardRejection };

// With a full stop in the id, the end of the timestamp could be read as the beginning of the body.
const idForm = /^[\x21-\x2d\x2f-\x7e]+$/;
// Thirteen digits would be milliseconds.
const timestampForm = /^[0-9]{1,12}$/;

function toSeconds(time: Date | number): number {
  return Math.floor(typeof time === "number" ? time : time.getTime() / 1000);
}

function standardSignature(id: string, timestamp: string, body: RawBody, secret: string): string {
  const hmac = createHmac("sha256", standardKey(secret)).update(`${id}.${timestamp}.`, "utf8").update(body);
  return `v1,${hmac.digest("base64")}`;
}

/**
 * The headers of Standard Webhooks for one attempt of a delivery. A secret `whsec_…` is decoded from Base64 to its
 * key; the key of any other is its UTF-8 bytes.
 *
 * @throws TypeError when there is no secret or an unusable one, or the id, the timestamp or the body has no valid form.
 */
export function standardHeaders({ id, timestamp, body, secrets }: StandardDelivery): StandardHeaders {
  const seconds = String(typeof timestamp === "number" ? timestamp : toSeconds(timestamp));
  if (typeof id !== "string" || !idForm.test(id))
    throw new TypeError("The id of a delivery has to be visible ASCII without a full stop.");
  if (!timestampForm.test(seconds)) {
    throw new TypeError("The timestamp of a delivery has to be a valid date or whole seconds since 1970.");
  }
  requireRawBody(body);
  if (!Array.isArray(secrets) || secrets.length === 0) throw new TypeError("There is no list of secrets to sign with.");
  for (const secret of secrets) requireUsableSecret(secret);

  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": secrets.map((secret) => standardSignature(id, seconds, body, secret)).join(" "),
  };
}

/**
 * Whether one of the secrets signed this delivery, and recently. Whatever the sender put there, it answers with a
 * reason rather than throws.
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
  if ([ids, timestamps, signatures].some((values) => values.length > 1)) return refused("repeated-header");

  const [[id], [timestamp], [signature]] = [ids, timestamps, signatures];
  if (id === undefined || timestamp === undefined || signature === undefined) return refused("missing-header");
  if (!idForm.test(id)) return refused("malformed-id");
  if (!timestampForm.test(timestamp)) return refused("malformed-timestamp");
  if (!isRawBody(body)) return refused("body-not-raw");
  const usable = usableSecrets(secrets);
  if (usable.length === 0) return refused("no-usable-secret");

  const candidates = signature.split(" ");
  const matches = usable
    .map((secret) => standardSignature(id, timestamp, body, secret))
    .some((expected) => candidates.some((candidate) => isSameText(expected, candidate)));
  if (!matches) return refused("no-match");

  // Asked in this way round, a `now` or a tolerance that isn't a number refuses everything.
  const age = toSeconds(now) - Number(timestamp);
  if (!(age <= toleranceSeconds)) return refused("too-old");
  if (!(-age <= toleranceSeconds)) return refused("too-new");
  return { valid: true };
}

function refused(reason: StandardRejection): StandardResult {
  return { valid: false, reason };
}
