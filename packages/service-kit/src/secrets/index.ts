export { createEncryption, DecryptionError, type Encryption } from "./encryption.ts";
export { type EncryptionKeys, encryptionKeys, parseEncryptionKeys } from "./encryption-keys.ts";
export type { EncryptedColumn } from "./find-undecryptable.ts";
export { createKeyedDigest, type KeyedDigest } from "./keyed-digest.ts";
export { readReencryptionConfig, runReencryption } from "./run-reencryption.ts";
