import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { intersectScopes, missingScopes } from "@ehr-marketplace/listing-rules/scopes";

export interface ScopeColumns {
  /** Agreed to. */
  fhir_scopes: string;
  /** The app's current ones. */
  app_fhir_scopes: string;
}

export interface AgreedScopes {
  /** Agreed to, and still the app's: a scope that a revision removes ends at once. */
  inForce: string;
  /** The app's scopes that nobody has agreed to. */
  missing: string;
}

export function compareScopes({ fhir_scopes: agreed, app_fhir_scopes: current }: ScopeColumns): AgreedScopes {
  if (current === agreed) return { inForce: current, missing: "" };
  return { inForce: intersectScopes(current, agreed), missing: missingScopes(current, agreed).join(" ") };
}

const sliceMs = 10;

/** Compares each distinct pair once, and yields to other requests: the longest lists of scopes take tens of milliseconds each. */
export async function withAgreedScopes<Row extends ScopeColumns>(
  rows: Row[],
): Promise<(Row & { scopes: AgreedScopes })[]> {
  const known = new Map<string, AgreedScopes>();
  const compared: (Row & { scopes: AgreedScopes })[] = [];
  let sliceEnd = performance.now() + sliceMs;
  for (const row of rows) {
    const pair = `${row.app_fhir_scopes}\n${row.fhir_scopes}`;
    const scopes = known.get(pair) ?? compareScopes(row);
    known.set(pair, scopes);
    compared.push({ ...row, scopes });
    if (performance.now() < sliceEnd) continue;
    await yieldToEventLoop();
    sliceEnd = performance.now() + sliceMs;
  }
  return compared;
}

/** Whether both allow the same, however they are written. */
export const areSameScopes = (one: string, other: string): boolean =>
  one === other || (missingScopes(one, other).length === 0 && missingScopes(other, one).length === 0);
