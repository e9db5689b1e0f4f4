const standardPrefix = "whsec_";
const paddedBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The message never repeats the secret, because messages end in logs. */
function whyUnusable(secret: unknown): string | undefined {
  if (typeof secret !== "string") return "A webhook secret has to be a string.";
  if (secret === "") return "A webhook secret can't be empty: anybody could sign with it.";
  if (!secret.startsWith(standardPrefix)) return undefined;

  const encoded = secret.slice(standardPrefix.length);
  if (encoded === "") return "Nothing follows whsec_ in the webhook secret: its key would be empty.";
  if (paddedBase64.test(encoded)) return undefined;
  return "What follows whsec_ in a webhook secret has to be padded Base64. Use another secret, or another prefix.";
}

/**
 * Whether a secret can sign: a string that isn't empty and, where it begins with `whsec_`, goes on with padded Base64.
 * Signing with any other throws a `TypeError`; verifying ignores it.
 */
export function isUsableSecret(secret: unknown): secret is string {
  return whyUnusable(secret) === undefined;
}

export function requireUsableSecret(secret: unknown): void {
  const reason = whyUnusable(secret);
  if (reason !== undefined) throw new TypeError(reason);
}

export function usableSecrets(secrets: unknown): string[] {
  return Array.isArray(secrets) ? secrets.filter(isUsableSecret) : [];
}

/** The key of X-Marketplace-Signature: the text of the secret, its prefix included. */
export function textKey(secret: string): Uint8Array {
  return Buffer.from(secret, "utf8");
}

/** The key of webhook-signature, as Standard Webhooks has it. */
export function standardKey(secret: string): Uint8Array {
  return secret.startsWith(standardPrefix)
    ? Buffer.from(secret.slice(standardPrefix.length), "base64")
    : textKey(secret);
}
