export { type EncryptionKeys, encryptionKeys, parseEncryptionKeys } from "./encryption-keys.ts";
export { createKeyedDigest, type KeyedDigest } from "./keyed-digest.ts";
export { readResealConfig, runReseal } from "./run-reseal.ts";
export { createSeal, type Seal, SealBrokenError } from "./seal.ts";
