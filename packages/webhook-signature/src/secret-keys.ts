const standardPrefix = "whsec_";
const paddedBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The message never contains the secret, because messages are logged. */
function findSecretError(secret: unknown): string | undefined {
  if (typeof secret !== "string") return "A webhook secret must be a string.";
  if (secret === "") return "A webhook secret must not be empty: anyone could sign with it.";
  if (!secret.startsWith(standardPrefix)) return undefined;

  const encoded = secret.slice(standardPrefix.length);
  if (encoded === "") return "A webhook secret must not end after whsec_: its key would be empty.";
  if (paddedBase64.test(encoded)) return undefined;
  return "A webhook secret that begins with whsec_ must continue with padded Base64. Use another secret, or another prefix.";
}

/**
 * Whether a secret can sign: a non-empty string that, if it begins with `whsec_`, continues with padded Base64. Signing with any
 * other secret throws a `TypeError`; verifying ignores it.
 */
export function isUsableSecret(secret: unknown): secret is string {
  return findSecretError(secret) === undefined;
}

export function requireUsableSecret(secret: unknown): void {
  const reason = findSecretError(secret);
  if (reason !== undefined) throw new TypeError(reason);
}

export function usableSecrets(secrets: unknown): string[] {
  return Array.isArray(secrets) ? secrets.filter(isUsableSecret) : [];
}

/** The key of X-Marketplace-Signature: the UTF-8 bytes of the secret, including a prefix. */
export function textKey(secret: string): Uint8Array {
  return Buffer.from(secret, "utf8");
}

/** The key of webhook-signature, as Standard Webhooks define it. */
export function standardKey(secret: string): Uint8Array {
  return secret.startsWith(standardPrefix)
    ? Buffer.from(secret.slice(standardPrefix.length), "base64")
    : textKey(secret);
}
