import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";

const toleranceSeconds = 300;

/** X-Marketplace-Signature. The body is the request's raw bytes; secrets are all current secrets. */
export function verifyBody(body: Uint8Array, signature: string, secrets: string[]): boolean {
  return secrets
    .filter((secret) => secret !== "")
    .some((secret) => isSame(createHmac("sha256", secret).update(body).digest("hex"), signature));
}

/** webhook-id, webhook-timestamp and webhook-signature. */
export function verifyStandard(
  headers: { id: string; timestamp: string; signature: string },
  body: Uint8Array,
  secrets: string[],
  now = Date.now() / 1000,
): boolean {
  const { id, timestamp, signature } = headers;
  if (id === "" || id.includes(".") || !/^[0-9]{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Math.floor(now) - Number(timestamp)) > toleranceSeconds) return false;

  return secrets
    .map(keyOf)
    .filter((key) => key.length > 0)
    .map((key) => createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64"))
    .some((expected) => signature.split(" ").some((given) => isSame(`v1,${expected}`, given)));
}

function keyOf(secret: string): Buffer {
  if (!secret.startsWith("whsec_")) return Buffer.from(secret);
  const key = Buffer.from(secret.slice(6), "base64");
  // Buffer ignores invalid Base64 characters instead of rejecting them.
  return key.toString("base64") === secret.slice(6) ? key : Buffer.alloc(0);
}

function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

// Test code, not part of the snippet: node verify-webhook.ts vectors.json

interface Vector {
  name: string;
  body: string;
  signature: string;
  valid: boolean;
}
interface Vectors {
  marketplace: (Vector & { secret: string })[];
  standard: (Vector & { secrets: string[]; id: string; timestamp: string; now: number })[];
}

if (process.argv[2] !== undefined) {
  const { marketplace, standard } = JSON.parse(readFileSync(process.argv[2], "utf8")) as Vectors;
  const wrong = [
    ...marketplace.filter((v) => verifyBody(Buffer.from(v.body), v.signature, [v.secret]) !== v.valid),
    ...standard.filter((v) => verifyStandard(v, Buffer.from(v.body), v.secrets, v.now) !== v.valid),
  ];
  for (const { name } of wrong) console.log(`wrong: ${name}`);
  console.log(`${marketplace.length + standard.length} vectors, ${wrong.length} wrong`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
