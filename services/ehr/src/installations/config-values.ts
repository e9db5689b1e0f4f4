import type { ConfigSecrets } from "../apps/config-secrets.ts";
import { SecretPlaces } from "./secret-places.ts";

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

const isObject = (value: unknown): value is Config =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** As anybody may see it: null stands where a secret is. */
export function withoutSecrets(secrets: ConfigSecrets | null, config: Config): Config {
  if (secrets === null) return config;
  const places = new SecretPlaces(secrets === "all" ? [{ secret: true }] : secrets);
  const at = places.root();
  if (!places.areSecret(at)) return mapNames(config, (value, name) => visible(places, places.named(at, name), value));
  return mapNames(config, () => null);
}

function visible(places: SecretPlaces, at: Set<number>, value: unknown): unknown {
  if (at.size === 0) return value;
  if (places.areSecret(at)) return null;
  if (Array.isArray(value)) {
    const items = places.items(at);
    return value.map((item: unknown) => visible(places, items, item));
  }
  if (!isObject(value)) return value;
  return mapNames(value, (part, name) => visible(places, places.named(at, name), part));
}

const mapNames = (from: Config, change: (value: unknown, name: string) => unknown): Config =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, change(value, name)]));

/** Stands for a value that isn't there. */
const absent = Symbol("absent");

export interface Kept {
  config: Config;
  /** Whether any stored value went into it. */
  fromStored: boolean;
}

/**
 * What is to be stored: as given, and where a secret is given as null, the stored one; nothing where none is stored. An item of a list keeps its
 * secrets only while all else in it stays the same: by its place alone, it could get another one's.
 */
export function keepSecrets(secrets: ConfigSecrets | null, given: Config, stored: Config): Kept {
  if (secrets === null) return { config: given, fromStored: false };
  const places = new SecretPlaces(secrets === "all" ? [{ secret: true }] : secrets);
  let fromStored = false;

  const keep = (at: Set<number>, value: unknown, old: unknown): unknown => {
    if (at.size === 0) return value;
    if (places.areSecret(at)) {
      if (value !== null) return value;
      fromStored ||= old !== absent;
      return old;
    }
    if (Array.isArray(value)) return keepItems(places.items(at), value, Array.isArray(old) ? old : []);
    if (!isObject(value)) return value;
    return keepNames((name) => places.named(at, name), value, old);
  };
  const keepNames = (partOf: (name: string) => Set<number>, value: Config, old: unknown): Config => {
    const parts = Object.entries(value).map(([name, part]): [string, unknown] => {
      const oldPart = isObject(old) && Object.hasOwn(old, name) ? old[name] : absent;
      return [name, keep(partOf(name), part, oldPart)];
    });
    return Object.fromEntries(parts.filter(([, part]) => part !== absent));
  };
  const keepItems = (at: Set<number>, value: unknown[], old: unknown[]): unknown[] => {
    if (at.size === 0) return value;
    const seen = (item: unknown): string => canonical(visible(places, at, item));
    const byLooks = Map.groupBy(old, seen);
    return value.map((item) => {
      const [same = absent] = byLooks.get(seen(item))?.splice(0, 1) ?? [];
      // A list of nothing but secrets looks the same whatever is in it.
      const kept = places.areSecret(at) ? item : keep(at, item, same);
      return kept === absent ? null : kept;
    });
  };

  const root = places.root();
  const partOf = places.areSecret(root) ? () => root : (name: string) => places.named(root, name);
  return { config: keepNames(partOf, given, stored), fromStored };
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
