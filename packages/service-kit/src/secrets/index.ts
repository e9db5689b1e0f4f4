export { type EncryptionKeys, encryptionKeys, parseEncryptionKeys } from "./encryption-keys.ts";
export { createSeal, type Seal, SealBrokenError } from "./seal.ts";
