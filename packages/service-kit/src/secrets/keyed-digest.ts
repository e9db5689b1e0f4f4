import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { EncryptionKeys } from "./encryption-keys.ts";

/** HMAC-SHA-256. Without the key, nobody can find out by trying which value a digest is of. */
export interface KeyedDigest {
  /** The version of the key, a dot, and the digest in Base64url. */
  create: (value: string) => string;
  /** Compares with the key that the digest was created with, so that it survives a rotation of keys. */
  matches: (digest: string, value: string) => boolean;
}

/** `purpose` keeps digests of one kind from being compared with those of another, and the encryption key from being used twice. */
export function createKeyedDigest(keys: EncryptionKeys, purpose: string): KeyedDigest {
  const derived = new Map(
    [...keys.byVersion].map(([version, key]) => [
      version,
      Buffer.from(hkdfSync("sha256", key, "", `ehr-marketplace ${purpose}`, 32)),
    ]),
  );
  const digestWith = (version: number, value: string): Buffer => {
    const key = derived.get(version);
    if (key === undefined) throw new Error(`ENCRYPTION_KEYS lacks version ${version}, which a digest was made with`);
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
