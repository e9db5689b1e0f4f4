import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { EncryptionKeys } from "./encryption-keys.ts";

/** HMAC-SHA-256. Without the key, the value of a digest can't be found by brute force. */
export interface KeyedDigest {
  /** The version of the key, a dot, and the digest in Base64url. */
  create: (value: string) => string;
  /** Uses the key version that the digest was created with, so that digests stay valid after a key rotation. */
  matches: (digest: string, value: string) => boolean;
}

/** Derives one key per `purpose`, so that digests of different purposes never match and the encryption key itself isn't reused. */
export function createKeyedDigest(keys: EncryptionKeys, purpose: string): KeyedDigest {
  const derived = new Map(
    [...keys.byVersion].map(([version, key]) => [
      version,
      Buffer.from(hkdfSync("sha256", key, "", `ehr-marketplace ${purpose}`, 32)),
    ]),
  );
  const digestWith = (version: number, value: string): Buffer => {
    const key = derived.get(version);
    if (key === undefined) throw new Error(`ENCRYPTION_KEYS lacks version ${version}, which a digest was created with`);
    return createHmac("sha256", key).update(value).digest();
  };
  return {
    create: (value) => `${keys.current}.${digestWith(keys.current, value).toString("base64url")}`,
    matches(digest, value) {
      const [version, text = ""] = digest.split(".");
      const expected = digestWith(Number(version), value);
      const given = Buffer.from(text, "base64url");
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
