import { isSchemaObject, type SchemaObject, SchemaReferences, schemasIn } from "./schema-references.ts";

/** Where in a schema a value is, and where its parts are then. Names are pairs: a property may be called `__proto__`. */
export interface Place {
  /** Marked `writeOnly`: nobody is shown it. */
  secret?: true;
  /** Other places that the same value is in. */
  also?: number[];
  names?: [string, number][];
  /** Where every part of an object is, whatever its name. */
  anyName?: number[];
  /** Where a part is that isn't listed by name. */
  additional?: { place: number; listed: string[] };
  items?: number[];
}

/** The places from which a secret can be reached; the first is where the whole configuration is. `"all"`: nothing is shown. */
export type ConfigSecrets = "all" | Place[];

const sameValue = ["allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"];
const anyName = ["patternProperties", "unevaluatedProperties"];
const items = ["items", "prefixItems", "unevaluatedItems", "contains"];
const mostPlaces = 500;

/**
 * Which values the schema marks `writeOnly`, in whichever branch: whether a branch applies depends on the values, and a secret
 * shown in error is worse than a value hidden. Patterns are not tried for the same reason, and because trying one may take for ever.
 */
export function configSecretsOf(schema: SchemaObject): ConfigSecrets | null {
  const references = new SchemaReferences(schema);
  const numbers = new Map<SchemaObject | string, number>();
  const left: SchemaObject[] = [];
  const places: Place[] = [];
  const add = (key: SchemaObject | string): number => {
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, places.length);
    if (typeof key !== "string") left.push(key);
    return places.push({}) - 1;
  };
  const addAll = (of: SchemaObject[]): number[] => of.map(add);
  /** One place between all that refer to a name and all that it may mean, or their number would multiply. */
  const addDynamic = (name: string): number => {
    const isNew = !numbers.has(name);
    const number = add(name);
    if (isNew) places[number] = { also: addAll(references.dynamic(name)) };
    return number;
  };

  add(schema);
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { $ref, $dynamicRef, properties } = next;
    const also = sameValue.flatMap((keyword) => addAll(schemasIn(next, keyword)));
    for (const reference of [$ref, $dynamicRef]) {
      if (typeof reference !== "string") continue;
      const target = references.find(reference, next);
      if (target !== undefined) also.push(add(target));
    }
    if (typeof $dynamicRef === "string") also.push(addDynamic($dynamicRef.replace(/^[^#]*#/, "")));
    const named = isSchemaObject(properties) ? Object.entries(properties) : [];
    const [additional] = addAll(schemasIn(next, "additionalProperties"));
    places[add(next)] = {
      ...(next["writeOnly"] === true ? { secret: true } : {}),
      also,
      names: named.flatMap(([name, each]): [string, number][] => (isSchemaObject(each) ? [[name, add(each)]] : [])),
      anyName: anyName.flatMap((keyword) => addAll(schemasIn(next, keyword))),
      ...(additional === undefined ? {} : { additional: { place: additional, listed: named.map(([name]) => name) } }),
      items: items.flatMap((keyword) => addAll(schemasIn(next, keyword))),
    };
  }
  return onlyWithSecrets(places);
}

const after = (place: Place): number[] => [
  ...(place.also ?? []),
  ...(place.names ?? []).map(([, number]) => number),
  ...(place.anyName ?? []),
  ...(place.additional === undefined ? [] : [place.additional.place]),
  ...(place.items ?? []),
];

/** Most of a schema leads to no secret, and is not worth keeping. */
function onlyWithSecrets(places: Place[]): ConfigSecrets | null {
  const before = places.map((): number[] => []);
  for (const [number, place] of places.entries()) for (const next of after(place)) before[next]?.push(number);
  const kept = new Set<number>();
  const left = [...places.keys()].filter((number) => places[number]?.secret === true);
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (kept.has(next)) continue;
    kept.add(next);
    for (const number of before[next] ?? []) left.push(number);
  }
  if (kept.size === 0) return null;
  if (kept.size > mostPlaces) return "all";
  const renumbered = new Map([...kept].toSorted((a, b) => a - b).map((number, position) => [number, position]));
  const among = (numbers: number[] = []): number[] => [...new Set(numbers.flatMap((one) => renumbered.get(one) ?? []))];
  return [...renumbered.keys()].map((number) => {
    const { secret, also, names = [], anyName: any, additional, items: parts } = places[number] ?? {};
    const place: Place = {};
    if (secret === true) place.secret = true;
    const keptNames = names.flatMap(([name, one]): [string, number][] => among([one]).map((there) => [name, there]));
    const [keptAdditional] = among(additional === undefined ? [] : [additional.place]);
    if (among(also).length > 0) place.also = among(also);
    if (keptNames.length > 0) place.names = keptNames;
    if (among(any).length > 0) place.anyName = among(any);
    if (keptAdditional !== undefined) place.additional = { place: keptAdditional, listed: additional?.listed ?? [] };
    if (among(parts).length > 0) place.items = among(parts);
    return place;
  });
}
