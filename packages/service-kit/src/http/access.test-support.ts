import type { Caller, Role } from "../tokens/caller.ts";
import { TokenRefusedError } from "../tokens/token-verifier.ts";

export function createCaller(subject: string, roles: Role[], more: Partial<Caller> = {}): Caller {
  return {
    issuer: "https://issuer.example",
    subject,
    roles: new Set(roles),
    organisations: new Map(),
    vendors: new Set(),
    ignoredRoleReasons: [],
    ...more,
  };
}

export interface Verifier {
  findVerified(token: string): Caller | undefined;
  verify(token: string): Promise<Caller>;
  /** Every token passed to `verify`. */
  verified: string[];
}

/** Returns the caller of each known token, or throws its error. Any other token is refused. */
export function createVerifier(known: Record<string, Caller | Error>): Verifier {
  const verified: string[] = [];
  return {
    verified,
    findVerified: () => undefined,
    async verify(token) {
      verified.push(token);
      const found = known[token] ?? new TokenRefusedError("It has expired.");
      if (found instanceof Error) throw found;
      return found;
    },
  };
}
