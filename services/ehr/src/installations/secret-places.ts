import type { Place } from "../apps/config-secrets.ts";

/** Says, of a value that is in some places of the schema, whether it is secret, and where its parts are. */
export class SecretPlaces {
  readonly #places: Place[];
  readonly #named: Map<string, number>[];
  readonly #listed: Set<string>[];

  constructor(places: Place[]) {
    this.#places = places;
    this.#named = places.map(({ names }) => new Map(names));
    this.#listed = places.map(({ additional }) => new Set(additional?.listed));
  }

  /** Where the whole configuration is. */
  root(): Set<number> {
    return this.#withAlso([0]);
  }

  areSecret(at: Set<number>): boolean {
    for (const number of at) if (this.#places[number]?.secret === true) return true;
    return false;
  }

  named(at: Set<number>, name: string): Set<number> {
    const parts: number[] = [];
    for (const number of at) {
      const { anyName = [], additional } = this.#places[number] ?? {};
      const named = this.#named[number]?.get(name);
      if (named !== undefined) parts.push(named);
      parts.push(...anyName);
      if (additional !== undefined && this.#listed[number]?.has(name) === false) parts.push(additional.place);
    }
    return this.#withAlso(parts);
  }

  items(at: Set<number>): Set<number> {
    return this.#withAlso([...at].flatMap((number) => this.#places[number]?.items ?? []));
  }

  #withAlso(numbers: number[]): Set<number> {
    const at = new Set(numbers);
    for (const number of at) for (const other of this.#places[number]?.also ?? []) at.add(other);
    return at;
  }
}
