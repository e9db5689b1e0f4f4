import { makeValidator } from "envalid";

export interface EncryptionKeys {
  /** The version that encrypts new secrets: the first. */
  current: number;
  byVersion: ReadonlyMap<number, Buffer>;
}

const entry = /^([1-9]\d{0,8}):([A-Za-z0-9+/]{43}=)$/;

/**
 * Parses `version:key`, comma-separated; a key is 32 bytes in Base64. The first key encrypts and all keys decrypt. To rotate, first
 * deploy the new key behind the old one to every process, and then move it to the front.
 */
export function parseEncryptionKeys(input: string): EncryptionKeys {
  const byVersion = new Map<number, Buffer>();
  for (const part of input.split(",")) {
    const [, version, key] = entry.exec(part.trim()) ?? [];
    if (version === undefined || key === undefined) {
      throw new Error("an entry doesn't have the form version:key, with a key of 32 bytes in Base64");
    }
    if (byVersion.has(Number(version))) throw new Error(`version ${version} is repeated`);
    byVersion.set(Number(version), Buffer.from(key, "base64"));
  }
  const [current = 0] = byVersion.keys();
  return { current, byVersion };
}

export const encryptionKeys: ReturnType<typeof makeValidator<EncryptionKeys>> =
  makeValidator<EncryptionKeys>(parseEncryptionKeys);
