import { randomBytes } from "node:crypto";
import { invalidRequest } from "@ehr-marketplace/service-kit/http";

/** Generates a secret in the format of Standard Webhooks, which its libraries accept unchanged. */
export function generateSigningSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

const standardSecret = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** A secret with the prefix of Standard Webhooks is decoded before it signs, and must contain at least 16 bytes then. */
function isUsableSecret(secret: string): boolean {
  if (!secret.startsWith("whsec_")) return true;
  return Buffer.from(standardSecret.exec(secret)?.[1] ?? "", "base64").length >= 16;
}

/** Validates `/body/secret` of any request. */
export function requireUsableSecret(secret: string): void {
  if (isUsableSecret(secret)) return;
  throw invalidRequest("/body/secret", "begins with whsec_, but the rest is not Base64 of at least 16 bytes");
}
