import type { ConfigSecrets } from "../apps/config-secrets.ts";
import { type Position, wholeUnder } from "./secret-places.ts";

export type Config = Record<string, unknown>;

/** How deep a configuration may nest: more than any form shows, and less than the stack holds. */
export const deepestConfig = 64;

/** A loop, because a hostile body nests deeper than the stack. */
export function nestsTooDeep(config: Config): boolean {
  const left: { value: unknown; depth: number }[] = [{ value: config, depth: 1 }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, depth } = next;
    if (typeof value !== "object" || value === null) continue;
    if (depth > deepestConfig) return true;
    for (const part of Object.values(value)) left.push({ value: part, depth: depth + 1 });
  }
  return false;
}

export const isObject = (value: unknown): value is Config =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** As anybody may see it: null stands where a secret is, now or by what was in force when it was stored. */
export function withoutSecrets(secrets: ConfigSecrets | null, config: Config, earlier: ConfigSecrets[] = []): Config {
  return visibleParts(wholeUnder([secrets, ...earlier]), config);
}

const visibleParts = (at: Position, config: Config): Config =>
  Object.fromEntries(Object.entries(config).map(([name, value]) => [name, visible(at.named(name), value)]));

function visible(at: Position, value: unknown): unknown {
  if (at.kind === "shown") return value;
  if (at.kind === "hidden") return null;
  if (isObject(value)) return visibleParts(at, value);
  if (!Array.isArray(value)) return value;
  const items = at.items();
  return value.map((item: unknown) => visible(items, item));
}
