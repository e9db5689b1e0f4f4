/** A schema that is no boolean: what may have keywords. */
export type SchemaObject = Record<string, unknown>;

export const isSchemaObject = (value: unknown): value is SchemaObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The keywords of JSON Schema 2020-12 that hold schemas: one, a list, or one for each name. */
const holdingOne = ["if", "then", "else", "not", "additionalProperties", "unevaluatedProperties", "propertyNames"];
const holdingOneForParts = ["items", "unevaluatedItems", "contains", "contentSchema"];
const holdingList = ["allOf", "anyOf", "oneOf", "prefixItems"];
const holdingNamed = ["$defs", "definitions", "dependentSchemas", "properties", "patternProperties"];
const one = new Set([...holdingOne, ...holdingOneForParts]);
const schemaKeywords = new Set([...one, ...holdingList, ...holdingNamed]);

/** The schemas that a keyword holds, without booleans, which say nothing of what they are held against. */
export function schemasIn(schema: SchemaObject, keyword: string): SchemaObject[] {
  const value = schema[keyword];
  if (typeof value !== "object" || value === null) return [];
  return (one.has(keyword) ? [value] : Object.values(value)).filter(isSchemaObject);
}

export class UnresolvableReferenceError extends Error {
  override readonly name = "UnresolvableReferenceError";
}

/** Says what there is too much of. */
export class ExcessiveSchemaError extends Error {
  override readonly name = "ExcessiveSchemaError";
}

/** More than any form needs, and little enough that nobody notices how long they take to go through: they are strangers' work. */
const deepest = 64;
const mostSchemas = 6_000;
const mostUris = 1_000;
const longestUri = 256;

/** Where a schema without an `$id` lies: nowhere. */
const nowhere = "https://schema.invalid/";

/** Finds what `$ref` and `$dynamicRef` mean within one schema document. What lies outside of it is never looked for. */
export class SchemaReferences {
  readonly #base = new Map<SchemaObject, string>();
  readonly #byUri = new Map<string, SchemaObject>();
  readonly #dynamic = new Map<string, SchemaObject[]>();
  #uris = 0;

  constructor(root: SchemaObject) {
    this.#byUri.set(nowhere, root);
    this.#learn(root, nowhere);
  }

  /** A loop, because a hostile schema nests deeper than the stack. */
  #learn(from: SchemaObject, base: string): void {
    const left: { schema: SchemaObject; outer: string; depth: number }[] = [{ schema: from, outer: base, depth: 1 }];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { schema, outer, depth } = next;
      if (this.#base.has(schema)) continue;
      if (depth > deepest) throw new ExcessiveSchemaError(`it nests too deep: more than ${deepest} levels`);
      const own = this.#register(schema, outer);
      for (const keyword of Object.keys(schema)) {
        if (!schemaKeywords.has(keyword)) continue;
        for (const inner of schemasIn(schema, keyword)) left.push({ schema: inner, outer: own, depth: depth + 1 });
      }
    }
  }

  /** Answers where it lies. */
  #register(schema: SchemaObject, outer: string): string {
    const { $id, $anchor, $dynamicAnchor } = schema;
    const own = typeof $id === "string" ? withoutFragment(this.#resolved($id, outer)) : outer;
    this.#base.set(schema, own);
    if (this.#base.size > mostSchemas) throw new ExcessiveSchemaError(`it has more than ${mostSchemas} parts`);
    if (typeof $id === "string") this.#byUri.set(own, schema);
    for (const anchor of [$anchor, $dynamicAnchor]) {
      if (typeof anchor === "string") this.#byUri.set(`${own}#${anchor}`, schema);
    }
    if (typeof $dynamicAnchor === "string") {
      const others = this.#dynamic.get($dynamicAnchor);
      if (others === undefined) this.#dynamic.set($dynamicAnchor, [schema]);
      else others.push(schema);
    }
    return own;
  }

  /** undefined: a boolean schema, which says nothing of what it is held against. */
  find(reference: string, from: SchemaObject): SchemaObject | undefined {
    const base = this.#base.get(from) ?? nowhere;
    const uri = reference.startsWith("#") ? undefined : this.#resolved(reference, base);
    const resource = uri === undefined ? base : withoutFragment(uri);
    const fragment = decoded((uri?.hash ?? reference).slice(1), reference);
    const found =
      fragment === "" || !fragment.startsWith("/")
        ? this.#byUri.get(fragment === "" ? resource : `${resource}#${fragment}`)
        : pointedAt(this.#byUri.get(resource), fragment);
    if (typeof found === "boolean") return undefined;
    if (!isSchemaObject(found)) throw new UnresolvableReferenceError(reference);
    this.#learn(found, resource);
    return found;
  }

  /** All that a `$dynamicRef` of this name may come to mean. */
  dynamic(name: string): SchemaObject[] {
    return this.#dynamic.get(name) ?? [];
  }

  /** Each within another could be longer by a little, until all of them together fill the memory. */
  #resolved(reference: string, base: string): URL {
    this.#uris += 1;
    if (this.#uris > mostUris)
      throw new ExcessiveSchemaError(`it has more than ${mostUris} $ids and references to them`);
    const uri = URL.parse(reference, base);
    if (uri === null) throw new UnresolvableReferenceError(reference);
    if (uri.href.length - uri.hash.length > longestUri) {
      throw new ExcessiveSchemaError(`it has an $id of more than ${longestUri} characters, or a reference to one`);
    }
    return uri;
  }
}

function decoded(fragment: string, reference: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    throw new UnresolvableReferenceError(reference);
  }
}

const withoutFragment = (uri: URL): string => uri.href.slice(0, uri.href.length - uri.hash.length).replace(/#$/, "");

function pointedAt(resource: SchemaObject | undefined, pointer: string): unknown {
  let at: unknown = resource;
  for (const step of pointer.split("/").slice(1)) {
    const name = step.includes("~") ? step.replaceAll("~1", "/").replaceAll("~0", "~") : step;
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}
