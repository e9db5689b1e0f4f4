import { escapeName, isObject, type JsonObject, parsePointer } from "./json.ts";
import type { ConfigSchema } from "./profile.ts";

/** Pointer to the whole configuration: all of its values are secret. */
export const everything = "";

/** Returns pointers to the values that a schema marks `writeOnly`. */
export function findSecrets(schema: ConfigSchema, pointer = ""): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const at = `${pointer}/${escapeName(name)}`;
    return property.writeOnly === true ? [at] : findSecrets(property, at);
  });
}

/** Pointers as a tree of property names. */
interface Node {
  isSecret: boolean;
  parts: Map<string, Node>;
}

const newNode = (): Node => ({ isSecret: false, parts: new Map() });

/** `names` are the top-level properties, which are all secret if `secrets` contains the pointer to the whole configuration. */
function buildTree(secrets: readonly string[], names: string[]): Node {
  const root = newNode();
  const paths = secrets.flatMap((pointer) =>
    pointer === everything ? names.map((name) => [name]) : [parsePointer(pointer)],
  );
  for (const path of paths) {
    let node = root;
    for (const name of path) {
      const next = node.parts.get(name) ?? newNode();
      node.parts.set(name, next);
      node = next;
    }
    node.isSecret = true;
  }
  return root;
}

/** Replaces each secret with null. Only objects that contain a secret are copied. */
export function redact(config: JsonObject, secrets: readonly string[]): JsonObject {
  const redactAt = (value: JsonObject, { parts }: Node): JsonObject => {
    const redacted = { ...value };
    for (const [name, at] of parts) {
      if (!Object.hasOwn(value, name)) continue;
      const part = value[name];
      if (at.isSecret) setOwn(redacted, name, null);
      else if (isObject(part)) setOwn(redacted, name, redactAt(part, at));
    }
    return redacted;
  };
  return redactAt(config, buildTree(secrets, Object.keys(config)));
}

/** Assigning to `__proto__` would set the prototype instead of a property. */
function setOwn(object: JsonObject, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

export interface Kept {
  config: JsonObject;
  /** Pointers to the values that were taken from the stored configuration. */
  kept: string[];
}

/** Replaces each secret that is null with its stored value, or removes it if none is stored. */
export function keepSecrets(given: JsonObject, stored: JsonObject, secrets: readonly string[]): Kept {
  const kept: string[] = [];
  const keepAt = (value: JsonObject, old: unknown, { parts }: Node, pointer: string): JsonObject =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, part]): [string, unknown][] => {
        const at = parts.get(name);
        if (at === undefined) return [[name, part]];
        const oldPart = isObject(old) && Object.hasOwn(old, name) ? old[name] : undefined;
        const partPointer = `${pointer}/${escapeName(name)}`;
        if (isObject(part)) return [[name, keepAt(part, oldPart, at, partPointer)]];
        if (part !== null || !at.isSecret) return [[name, part]];
        if (oldPart === undefined) return [];
        kept.push(partPointer);
        return [[name, oldPart]];
      }),
    );
  return { config: keepAt(given, stored, buildTree(secrets, Object.keys(given)), ""), kept };
}

/** Returns the secrets that a configuration has a value for. */
export function secretsIn(config: JsonObject, secrets: readonly string[]): string[] {
  return secrets.filter((pointer) => {
    let value: unknown = config;
    for (const name of parsePointer(pointer)) {
      if (!isObject(value) || !Object.hasOwn(value, name)) return false;
      value = value[name];
    }
    return true;
  });
}
