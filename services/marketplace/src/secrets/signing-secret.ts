import { randomBytes } from "node:crypto";
import { invalidRequest } from "@ehr-marketplace/service-kit/http";

/** In the form that Standard Webhooks gives secrets, so that its libraries take it as it is. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

const standardSecret = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** A secret of the form that Standard Webhooks gives them is decoded before it signs: it must hold a key then. */
function isUsableSecret(secret: string): boolean {
  if (!secret.startsWith("whsec_")) return true;
  return Buffer.from(standardSecret.exec(secret)?.[1] ?? "", "base64").length >= 16;
}

/** For whatever a body gives as its secret, whoever's it is. */
export function requireUsableSecret(secret: string): void {
  if (isUsableSecret(secret)) return;
  throw invalidRequest("/body/secret", "begins with whsec_, but what follows is not Base64 of 16 bytes or more");
}
