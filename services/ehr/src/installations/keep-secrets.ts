import type { ConfigSecrets } from "../apps/config-secrets.ts";
import { type Config, isObject } from "./config-values.ts";
import { createLooks } from "./looks.ts";
import { type Position, wholeUnder } from "./secret-places.ts";

/** Stands for a value that isn't there. */
const absent = Symbol("absent");

export interface Kept {
  config: Config;
  /** Whether any stored value went into it. */
  fromStored: boolean;
  /** Whether one of those is secret only by what was in force when it was stored. */
  onlyEarlier: boolean;
}

/** Where a value is: by all that hides something of it, and by what is secret now. */
interface Where {
  at: Position;
  now: Position;
}
const partOf = ({ at, now }: Where, name: string): Where => ({ at: at.named(name), now: now.named(name) });
const itemsOf = ({ at, now }: Where): Where => ({ at: at.items(), now: now.items() });

/**
 * What is to be stored: as given, and where a secret is given as null, the stored one; nothing where none is stored. An item of a list keeps its
 * secrets only while all else in it stays the same: by its place alone, it could get another one's.
 */
export function keepSecrets(
  secrets: ConfigSecrets | null,
  given: Config,
  stored: Config,
  earlier: ConfigSecrets[] = [],
): Kept {
  const looks = createLooks();
  let [fromStored, onlyEarlier] = [false, false];

  const keep = (where: Where, value: unknown, old: unknown): unknown => {
    if (where.at.kind === "shown") return value;
    if (where.at.kind === "hidden") return value === null ? keepHidden(where, old) : value;
    if (Array.isArray(value)) return keepItems(itemsOf(where), value, Array.isArray(old) ? old : []);
    return isObject(value) ? keepParts(where, value, old) : value;
  };
  const keepHidden = ({ now }: Where, old: unknown): unknown => {
    // Where nothing is stored, null is a value like others, unless it stands for a secret.
    if (old === absent) return now.kind === "hidden" ? absent : null;
    fromStored = true;
    onlyEarlier ||= now.kind !== "hidden";
    return old;
  };
  const keepParts = (where: Where, value: Config, old: unknown): Config => {
    const parts = Object.entries(value).map(([name, part]): [string, unknown] => {
      const oldPart = isObject(old) && Object.hasOwn(old, name) ? old[name] : absent;
      return [name, keep(partOf(where, name), part, oldPart)];
    });
    return Object.fromEntries(parts.filter(([, part]) => part !== absent));
  };
  const keepItems = (where: Where, value: unknown[], old: unknown[]): unknown[] => {
    // A list of nothing but secrets looks the same whatever is in it.
    if (where.at.kind !== "partly") return value;
    // From the last, so that the first of those that look the same is taken first.
    const byLooks = Map.groupBy(old.toReversed(), (item) => looks(where.at, item));
    return value.map((item) => {
      const same = byLooks.get(looks(where.at, item));
      return keep(where, item, same === undefined || same.length === 0 ? absent : same.pop());
    });
  };

  const now = wholeUnder([secrets]);
  const at = earlier.length === 0 ? now : wholeUnder([secrets, ...earlier]);
  const config = keepParts({ at, now }, given, stored);
  return { config, fromStored, onlyEarlier };
}
