import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { EncryptionKeys } from "./encryption-keys.ts";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** A secret that can't be opened: another key, another row's, or not the bytes that were stored. */
export class SealBrokenError extends Error {
  override readonly name = "SealBrokenError";
}

export interface Seal {
  /** `owner` names the row that the secret belongs to: moved to another row, it can't be opened. */
  close(secret: string, owner: string): string;
  open(sealed: string, owner: string): string;
  /** undefined where it is broken: whoever asks has a way out of that. */
  openIfPossible(sealed: string, owner: string, onBroken?: (error: SealBrokenError) => void): string | undefined;
  /** The same secret, sealed for the same row with the key that is used now. */
  again(sealed: string, owner: string): string;
  /** Whether it was sealed with the version that is used now. */
  isCurrent(sealed: string): boolean;
}

export function createSeal(keys: EncryptionKeys): Seal {
  const keyOf = (version: number): Buffer => {
    const key = keys.byVersion.get(version);
    if (key === undefined) {
      throw new SealBrokenError(`ENCRYPTION_KEYS lacks version ${version}, which a stored secret was sealed with`);
    }
    return key;
  };

  const seal: Seal = {
    close(secret, owner) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, keyOf(keys.current), nonce);
      cipher.setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${keys.current}.${sealed.toString("base64url")}`;
    },
    open(sealed, owner) {
      const { version, bytes } = partsOf(sealed);
      const key = keyOf(version);
      try {
        const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
        decipher.setAAD(Buffer.from(owner));
        decipher.setAuthTag(bytes.subarray(-tagBytes));
        const opened = [decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()];
        return Buffer.concat(opened).toString("utf8");
      } catch (error) {
        throw new SealBrokenError("a sealed secret doesn't open with its key, or belongs to another row", {
          cause: error,
        });
      }
    },
    openIfPossible(sealed, owner, onBroken) {
      try {
        return seal.open(sealed, owner);
      } catch (error) {
        if (!(error instanceof SealBrokenError)) throw error;
        onBroken?.(error);
        return undefined;
      }
    },
    again: (sealed, owner) => seal.close(seal.open(sealed, owner), owner),
    isCurrent: (sealed) => partsOf(sealed).version === keys.current,
  };
  return seal;
}

function partsOf(sealed: string): { version: number; bytes: Buffer } {
  const [, version, text = ""] = /^([1-9]\d*)\.(.*)$/s.exec(sealed) ?? [];
  if (version === undefined) throw new SealBrokenError("a sealed secret doesn't begin with the version of its key");
  const bytes = Buffer.from(text, "base64url");
  // Node reads past what is no Base64; what isn't to the letter what was stored is not opened.
  if (bytes.toString("base64url") !== text) throw new SealBrokenError("a sealed secret is not in Base64");
  if (bytes.length < nonceBytes + tagBytes) throw new SealBrokenError("a sealed secret is too short");
  return { version: Number(version), bytes };
}
