import type { Config } from "./config-values.ts";
import type { Position } from "./secret-places.ts";

/** Gives a number to each value as it is shown: those that look the same have the same. */
export type Looks = (at: Position, value: unknown) => number;

/** From the innermost out, each value once: written out whole at every level, nested lists would take as long as they are deep. */
export function createLooks(): Looks {
  const numbers = new Map<string, number>();
  const known = new Map<object, number>();
  const numberOf = (written: string): number => {
    const number = numbers.get(written) ?? numbers.size;
    numbers.set(written, number);
    return number;
  };
  const looks: Looks = (at, value) => {
    if (at.kind === "hidden") return numberOf("null");
    if (typeof value !== "object" || value === null) return numberOf(JSON.stringify(value));
    const number = known.get(value) ?? numberOf(Array.isArray(value) ? list(at, value) : object(at, value as Config));
    known.set(value, number);
    return number;
  };
  const list = (at: Position, value: unknown[]): string => {
    const items = at.items();
    return `[${value.map((item) => looks(items, item)).join()}]`;
  };
  const object = (at: Position, value: Config): string => {
    const parts = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}:${looks(at.named(name), part)}`);
    return `{${parts.toSorted().join()}}`;
  };
  return looks;
}
