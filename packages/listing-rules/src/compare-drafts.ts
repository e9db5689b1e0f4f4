import { escapeName } from "@ehr-marketplace/config-schema";
import type { DraftPlan, ListingDraft } from "@ehr-marketplace/contracts";
import { findAddedScopes } from "./scopes.ts";

/** What a reviewer must not overlook. */
export const differenceMarks = [
  "scope-added",
  "url-changed",
  "redirect-uri-changed",
  "extension-point-changed",
  "audience-changed",
  "baa-changed",
] as const;
export type DifferenceMark = (typeof differenceMarks)[number];

export interface Difference {
  /** JSON Pointer into the new draft, or into the old one for what was removed. */
  pointer: string;
  /** Absent if it was added. */
  before?: unknown;
  /** Absent if it was removed. */
  after?: unknown;
  /** A value has more than 2,000 characters: the text from shortly before the first difference on, as JSON unless it is a text. */
  shortened?: true;
  mark?: DifferenceMark;
}

export interface Comparison {
  /** At most 1,000: those with a mark first, then in the order of the draft's fields. */
  differences: Difference[];
  /** Whether there are more. */
  truncated: boolean;
}

const maxDifferences = 1_000;
const maxValueLength = 2_000;
/** What is below a longer pointer is compared as one value: the pointers of 1,000 differences could have hundreds of megabytes. */
const maxPointerLength = 1_000;
const lengthBeforeDifference = 200;

/** How a field is compared. The marks follow from this list alone, so that no name that a vendor chooses makes or hides one. */
interface Rule {
  as?: "set" | "scopes" | "plans";
  mark?: DifferenceMark;
  /** Fields that are compared one by one also where the whole object was added or removed, because of their marks. */
  fields?: Readonly<Record<string, Rule>>;
  items?: Rule;
}

const url: Rule = { mark: "url-changed" };
const draftRule: Rule = {
  fields: {
    audience: { mark: "audience-changed" },
    extensionPoints: { as: "set", mark: "extension-point-changed" },
    smartLaunchUrl: url,
    cdsServicesUrl: url,
    fhirScopes: { as: "scopes" },
    oauth: { fields: { redirectUris: { as: "set", mark: "redirect-uri-changed" }, jwksUri: url } },
    websiteUrl: url,
    supportUrl: url,
    privacyPolicyUrl: url,
    termsUrl: url,
    baaDocument: { mark: "baa-changed" },
    trust: {
      fields: {
        certifications: { items: { fields: { evidenceUrl: url } } },
        accessibility: { fields: { reportUrl: url } },
      },
    },
    plans: { as: "plans" },
  },
};
const noRule: Rule = {};

/** Compares two drafts field by field, for a reviewer: scopes by meaning, redirect URIs and extension points in any order. */
export function compareDrafts(before: ListingDraft | null, after: ListingDraft): Comparison {
  const collector = new Collector();
  compareFields(before ?? {}, after, "", draftRule, collector);
  return collector.finish();
}

class Collector {
  readonly #marked: Difference[] = [];
  readonly #unmarked: Difference[] = [];
  readonly #maxKept: number;
  #count = 0;

  constructor(maxKept = maxDifferences) {
    this.#maxKept = maxKept;
  }

  /** Of the differences found, also of those that aren't kept. */
  get count(): number {
    return this.#count;
  }

  add(pointer: string, before: unknown, after: unknown, mark?: DifferenceMark): void {
    this.#count += 1;
    const kept = mark === undefined ? this.#unmarked : this.#marked;
    if (kept.length < this.#maxKept) {
      kept.push({ pointer, ...shorten(before, after), ...(mark === undefined ? {} : { mark }) });
    }
  }

  finish(): Comparison {
    const differences = [...this.#marked, ...this.#unmarked].slice(0, maxDifferences);
    return { differences, truncated: this.#count > differences.length };
  }
}

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const own = <T>(fields: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;

function compare(before: unknown, after: unknown, pointer: string, rule: Rule, found: Collector): void {
  if (before === after) return;
  const { as, mark, fields, items } = rule;
  if (as === "scopes") return compareScopes(before, after, pointer, found);
  if (as === "set") return compareSets(toList(before), toList(after), pointer, mark, found);
  const isComparedInside = (value: unknown): boolean =>
    value === undefined && (fields !== undefined || items !== undefined || as === "plans");
  const isPair = (is: (value: unknown) => boolean): boolean =>
    (is(before) || isComparedInside(before)) && (is(after) || isComparedInside(after));
  if (pointer.length > maxPointerLength && rule === noRule) {
    const inside = new Collector(0);
    compare(before, after, "", rule, inside);
    if (inside.count > 0) found.add(pointer, before, after);
    return;
  }
  const countBefore = found.count;
  if (isPair(isObject)) {
    compareFields((before ?? {}) as Fields, (after ?? {}) as Fields, pointer, rule, found);
  } else if (isPair(Array.isArray)) {
    const [old, current] = [toList(before), toList(after)];
    if (as === "plans") comparePlans(old as DraftPlan[], current as DraftPlan[], pointer, found);
    else compareLists(old, current, pointer, items ?? noRule, found);
  } else {
    found.add(pointer, before, after, mark);
  }
  // An empty object or list isn't the same as none.
  if (found.count === countBefore && (before === undefined || after === undefined)) found.add(pointer, before, after);
}

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function compareFields(before: Fields, after: Fields, pointer: string, rule: Rule, found: Collector): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const at = `${pointer}/${escapeName(name)}`;
    compare(own(before, name), own(after, name), at, own(rule.fields, name) ?? noRule, found);
  }
}

function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  pointer: string,
  rule: Rule,
  found: Collector,
): void {
  for (let index = 0; index < Math.max(before.length, after.length); index += 1) {
    compare(before[index], after[index], `${pointer}/${index}`, rule, found);
  }
}

function compareSets(
  before: readonly unknown[],
  after: readonly unknown[],
  pointer: string,
  mark: DifferenceMark | undefined,
  found: Collector,
): void {
  const [old, current] = [new Set(before), new Set(after)];
  for (const [index, value] of after.entries()) {
    if (!old.has(value)) found.add(`${pointer}/${index}`, undefined, value, mark);
    old.add(value);
  }
  for (const [index, value] of before.entries()) {
    if (!current.has(value)) found.add(`${pointer}/${index}`, value, undefined, mark);
    current.add(value);
  }
}

function compareScopes(before: unknown, after: unknown, pointer: string, found: Collector): void {
  const [old, current] = [before, after].map((value) => (typeof value === "string" ? value : "")) as [string, string];
  for (const scope of findAddedScopes(old, current)) found.add(pointer, undefined, scope, "scope-added");
  for (const scope of findAddedScopes(current, old)) found.add(pointer, scope, undefined);
}

/** Plans with the same id are the same plan wherever they are; the others are paired in their order. */
function comparePlans(
  before: readonly DraftPlan[],
  after: readonly DraftPlan[],
  pointer: string,
  found: Collector,
): void {
  const withId = Map.groupBy(before.keys(), (index) => before[index]?.id);
  withId.delete(undefined);
  const partners = after.map(({ id }) => (id === undefined ? undefined : withId.get(id)?.shift()));
  const taken = new Set(partners);
  const others = [...before.keys()].filter((index) => !taken.has(index));
  let last = -1;
  let isReordered = false;
  for (const [index, plan] of after.entries()) {
    const partner = partners[index] ?? others.shift();
    if (partner === undefined) {
      found.add(`${pointer}/${index}`, undefined, plan);
    } else {
      compare(before[partner], plan, `${pointer}/${index}`, noRule, found);
      isReordered ||= partner < last;
      last = partner;
    }
  }
  for (const index of others) found.add(`${pointer}/${index}`, before[index], undefined);
  const namesOf = (plans: readonly DraftPlan[]): string[] => plans.map(({ name = "" }) => name);
  if (isReordered) found.add(pointer, namesOf(before), namesOf(after));
}

/** Leaves out a side that is undefined. */
function shorten(before: unknown, after: unknown): Pick<Difference, "before" | "after" | "shortened"> {
  const isLong = (value: unknown): boolean => value !== undefined && toText(value).length > maxValueLength;
  const sides = Object.entries({ before, after }).filter(([, value]) => value !== undefined);
  if (!isLong(before) && !isLong(after)) return Object.fromEntries(sides);
  const texts = sides.map(([side, value]) => [side, toText(value)] as const);
  const [[, first], [, second] = ["", ""]] = texts as [[string, string], [string, string]?];
  const start = texts.length < 2 ? 0 : Math.max(0, findFirstDifference(first, second) - lengthBeforeDifference);
  const excerpts = texts.map(([side, text]) => [side, cut(text, start)]);
  return { ...Object.fromEntries(excerpts), shortened: true };
}

const toText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function findFirstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}

/** A pair of surrogates that is cut through becomes the replacement character. */
const cut = (text: string, start: number): string =>
  `${start > 0 ? "…" : ""}${text.slice(start, start + maxValueLength).toWellFormed()}`;
