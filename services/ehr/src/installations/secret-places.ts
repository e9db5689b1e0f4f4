import type { ConfigSecrets, Place } from "../apps/config-secrets.ts";

/** Where a value is in a schema, or in several: whether anybody is shown it, and where its parts are then. */
export interface Position {
  /** `partly`: a part of it may be hidden. */
  kind: "shown" | "hidden" | "partly";
  named(name: string): Position;
  items(): Position;
}

const shown: Position = { kind: "shown", named: () => shown, items: () => shown };
const hidden: Position = { kind: "hidden", named: () => hidden, items: () => hidden };

/** A value that is in more places than this at once is hidden: going through them all, for every value, would take too long. */
const mostAtOnce = 100;

/** Where the whole configuration is. What any of these keeps secret is hidden. */
export function wholeUnder(secrets: (ConfigSecrets | null)[]): Position {
  const wholes = secrets.map((each) => (each === null ? shown : each === "all" ? hidden : rootOf(each)));
  return wholes.reduce(either, shown);
}

function either(one: Position, other: Position): Position {
  if (one.kind === "hidden" || other.kind === "shown") return one;
  if (other.kind === "hidden" || one.kind === "shown") return other;
  return {
    kind: "partly",
    named: (name) => either(one.named(name), other.named(name)),
    items: () => either(one.items(), other.items()),
  };
}

/** Each position is worked out once, however many values are there. */
function rootOf(places: Place[]): Position {
  const names = places.map((place) => new Map(place.names));
  const listed = places.map(({ additional }) => new Set(additional?.listed));
  const mentioned = new Set([...names.flatMap((each) => [...each.keys()]), ...listed.flatMap((each) => [...each])]);
  const seen = new Uint32Array(places.length);
  let round = 0;
  const positions = new Map<string, Position>();

  const positionOf = (numbers: number[]): Position => {
    round += 1;
    const at: number[] = [];
    const addAll = (more: number[]): void => {
      for (const number of more) {
        if (seen[number] === round) continue;
        seen[number] = round;
        at.push(number);
      }
    };
    addAll(numbers);
    // It grows meanwhile.
    for (const number of at) {
      const { secret, also } = places[number] ?? {};
      if (secret === true || at.length > mostAtOnce) return hidden;
      if (also !== undefined) addAll(also);
    }
    if (at.length === 0) return shown;
    const key = at.join();
    const position = positions.get(key) ?? partlyAt(at);
    positions.set(key, position);
    return position;
  };
  /** undefined: any name that the schema doesn't mention. */
  const partsNamed = (at: number[], name: string | undefined): number[] => {
    const parts: number[] = [];
    for (const number of at) {
      const { anyName, additional } = places[number] ?? {};
      const own = name === undefined ? undefined : names[number]?.get(name);
      if (own !== undefined) parts.push(own);
      if (anyName !== undefined) parts.push(...anyName);
      if (additional === undefined || (name !== undefined && listed[number]?.has(name) === true)) continue;
      parts.push(additional.place);
    }
    return parts;
  };
  const partlyAt = (at: number[]): Position => {
    const known = new Map<string | undefined, Position>();
    let items: Position | undefined;
    return {
      kind: "partly",
      named(name) {
        const key = mentioned.has(name) ? name : undefined;
        const position = known.get(key) ?? positionOf(partsNamed(at, key));
        known.set(key, position);
        return position;
      },
      items() {
        items ??= positionOf(at.flatMap((number) => places[number]?.items ?? []));
        return items;
      },
    };
  };
  return positionOf([0]);
}
