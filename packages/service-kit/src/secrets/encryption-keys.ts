import { makeValidator } from "envalid";

export interface EncryptionKeys {
  /** The version that new secrets are sealed with: the first. */
  current: number;
  byVersion: ReadonlyMap<number, Buffer>;
}

const entry = /^([1-9]\d{0,8}):([A-Za-z0-9+/]{43}=)$/;

/**
 * `version:key`, comma-separated; a key is 32 bytes in Base64. The first one seals, all of them open: so a new key can
 * first be made known to every process, behind the old one, and be put to use when none is left that doesn't know it.
 */
export function parseEncryptionKeys(input: string): EncryptionKeys {
  const byVersion = new Map<number, Buffer>();
  for (const part of input.split(",")) {
    const [, version, key] = entry.exec(part.trim()) ?? [];
    if (version === undefined || key === undefined) {
      throw new Error("an entry isn't of the form version:key, with a key of 32 bytes in Base64");
    }
    if (byVersion.has(Number(version))) throw new Error(`version ${version} is there twice`);
    byVersion.set(Number(version), Buffer.from(key, "base64"));
  }
  const [current = 0] = byVersion.keys();
  return { current, byVersion };
}

export const encryptionKeys: ReturnType<typeof makeValidator<EncryptionKeys>> =
  makeValidator<EncryptionKeys>(parseEncryptionKeys);
