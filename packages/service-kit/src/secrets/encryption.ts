import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { EncryptionKeys } from "./encryption-keys.ts";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** A stored secret can't be decrypted: its key is missing, it belongs to another row, or its bytes were changed. */
export class DecryptionError extends Error {
  override readonly name = "DecryptionError";
}

export interface Encryption {
  /** `owner` names the row that the secret belongs to. It is authenticated, so a secret moved to another row can't be decrypted. */
  encrypt(secret: string, owner: string): string;
  decrypt(encrypted: string, owner: string): string;
  /** Returns undefined instead of throwing, for callers with a fallback. */
  decryptIfPossible(encrypted: string, owner: string, onError?: (error: DecryptionError) => void): string | undefined;
  /** Encrypts the same secret for the same row with the current key. */
  reencrypt(encrypted: string, owner: string): string;
  /** Whether the secret is encrypted with the current key version. */
  isCurrent(encrypted: string): boolean;
}

export function createEncryption(keys: EncryptionKeys): Encryption {
  const keyOf = (version: number): Buffer => {
    const key = keys.byVersion.get(version);
    if (key === undefined) {
      throw new DecryptionError(`ENCRYPTION_KEYS lacks version ${version}, which a stored secret is encrypted with`);
    }
    return key;
  };

  const encryption: Encryption = {
    encrypt(secret, owner) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, keyOf(keys.current), nonce);
      cipher.setAAD(Buffer.from(owner));
      const encrypted = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${keys.current}.${encrypted.toString("base64url")}`;
    },
    decrypt(encrypted, owner) {
      const { version, bytes } = parseEncrypted(encrypted);
      const key = keyOf(version);
      try {
        const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
        decipher.setAAD(Buffer.from(owner));
        decipher.setAuthTag(bytes.subarray(-tagBytes));
        const parts = [decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()];
        return Buffer.concat(parts).toString("utf8");
      } catch (error) {
        throw new DecryptionError("an encrypted secret can't be decrypted with its key, or belongs to another row", {
          cause: error,
        });
      }
    },
    decryptIfPossible(encrypted, owner, onError) {
      try {
        return encryption.decrypt(encrypted, owner);
      } catch (error) {
        if (!(error instanceof DecryptionError)) throw error;
        onError?.(error);
        return undefined;
      }
    },
    reencrypt: (encrypted, owner) => encryption.encrypt(encryption.decrypt(encrypted, owner), owner),
    isCurrent: (encrypted) => parseEncrypted(encrypted).version === keys.current,
  };
  return encryption;
}

function parseEncrypted(encrypted: string): { version: number; bytes: Buffer } {
  const [, version, text = ""] = /^([1-9]\d*)\.(.*)$/s.exec(encrypted) ?? [];
  if (version === undefined) throw new DecryptionError("an encrypted secret doesn't begin with a key version");
  const bytes = Buffer.from(text, "base64url");
  // Node skips invalid Base64 characters when decoding, so only the canonical encoding is accepted.
  if (bytes.toString("base64url") !== text) throw new DecryptionError("an encrypted secret is not valid Base64");
  if (bytes.length < nonceBytes + tagBytes) throw new DecryptionError("an encrypted secret is too short");
  return { version: Number(version), bytes };
}
