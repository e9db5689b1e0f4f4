export { checkSchema, type SchemaProblem, type SchemaProblemCode } from "./check-schema.ts";
export { compileSchema } from "./compile-schema.ts";
export { escapeName, type JsonObject } from "./json.ts";
export type { ConfigSchema, Problem } from "./profile.ts";
export { everything, findSecrets, keepSecrets, redact, secretsIn } from "./secrets.ts";
