import type { Caller, Role } from "../tokens/caller.ts";
import { TokenRefusedError } from "../tokens/verify-token.ts";

export function callerNamed(subject: string, roles: Role[], more: Partial<Caller> = {}): Caller {
  return {
    issuer: "https://issuer.example",
    subject,
    roles: new Set(roles),
    organisations: new Map(),
    vendors: new Set(),
    uncounted: [],
    ...more,
  };
}

export interface Verifier {
  findVerified(token: string): Caller | undefined;
  verify(token: string): Promise<Caller>;
  /** Every token that it was asked about. */
  asked: string[];
}

/** Knows the callers by their tokens; what stands for an error is thrown, and any other token is refused. */
export function verifierOf(known: Record<string, Caller | Error>): Verifier {
  const asked: string[] = [];
  return {
    asked,
    findVerified: () => undefined,
    async verify(token) {
      asked.push(token);
      const found = known[token] ?? new TokenRefusedError("It has expired.");
      if (found instanceof Error) throw found;
      return found;
    },
  };
}
