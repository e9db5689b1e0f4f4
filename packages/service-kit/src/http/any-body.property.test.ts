import assert from "node:assert/strict";
import { isUtf8 } from "node:buffer";
import { before, describe, test } from "node:test";
import { cleanUpAfter, rounds } from "@ehr-marketplace/test-kit";
import fc from "fast-check";
import { startTestServer, type TestServer } from "./server.test-support.ts";

const maxDepth = 64;
const maxBodyBytes = 16_384;
const runs = { numRuns: rounds(500, 10_000) };

type Expected = { status: 200; body: unknown } | { status: 400; pointer?: string } | { status: 413 };

/** The expected result for a body, computed with `JSON.parse` alone. */
function expectedOf(bytes: Buffer): Expected {
  if (bytes.length > maxBodyBytes) return { status: 413 };
  if (bytes.length === 0) return { status: 200, body: undefined };
  if (!isUtf8(bytes)) return { status: 400 };
  // A leading byte order mark is dropped, as RFC 8259 allows.
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { status: 400 };
  }
  const { depth, unstorable, pollutes } = inspect(body);
  if (depth > maxDepth) return { status: 400, pointer: "/body" };
  if (pollutes) return { status: 400 };
  return unstorable[0] === undefined ? { status: 200, body } : { status: 400, pointer: unstorable[0] };
}

const isUnstorable = (text: string): boolean => /\0|\p{Cs}/u.test(text);

/** Walks a value without recursion, and returns the pointers of all texts that can't be stored, in document order. */
function inspect(root: unknown): { depth: number; unstorable: string[]; pollutes: boolean } {
  const found = { depth: 0, unstorable: [] as string[], pollutes: false };
  const waiting: { value: unknown; pointer: string; depth: number }[] = [{ value: root, pointer: "/body", depth: 1 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, pointer, depth } = next;
    if (typeof value === "string" && isUnstorable(value)) found.unstorable.push(pointer);
    if (typeof value !== "object" || value === null) continue;
    found.depth = Math.max(found.depth, depth);
    const entries = Object.entries(value);
    // Fastify refuses names that would change a prototype when copied.
    const constructed: unknown = Object.hasOwn(value, "constructor") ? value.constructor : undefined;
    const isObject = typeof constructed === "object" && constructed !== null;
    if (Object.hasOwn(value, "__proto__") || (isObject && Object.hasOwn(constructed, "prototype")))
      found.pollutes = true;
    const nth = entries.findIndex(([key]) => isUnstorable(key));
    // A name that can't be stored is reported at its object, after the values that precede it.
    const below = entries.slice(0, nth === -1 ? entries.length : nth).map(([key, each]) => ({
      value: each,
      pointer: `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`,
      depth: depth + 1,
    }));
    if (nth !== -1) {
      waiting.push({ value: "\0", pointer, depth });
      // What follows such a name still counts toward the depth.
      const rest = inspect(entries.slice(nth).map(([, each]) => each));
      found.depth = Math.max(found.depth, depth + rest.depth - 1);
      found.pollutes ||= rest.pollutes;
    }
    waiting.push(...below.toReversed());
  }
  return found;
}

/** Characters that a scanner confuses with others: brackets, quotes and escapes, in names and in texts. */
const text = fc.oneof(
  fc
    .array(fc.constantFrom(...Array.from('[]{}"\\/~,:é\0\u2028😀'), "\ud83d"), { maxLength: 6 })
    .map((all) => all.join("")),
  fc.constantFrom("__proto__", "constructor", "prototype", "toString", "", "a"),
);
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    text,
    fc.constantFrom<unknown>(null, true, 0, -0.5, 1e300),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.array(fc.tuple(text, tie("json")), { maxLength: 4 }).map((entries) => new Map(entries)),
  ),
}));

/** Writes JSON with names that an object literal can't have, optionally with every other character escaped. */
function textOf(value: unknown, escapes: boolean): string {
  if (value instanceof Map) {
    return `{${[...value].map(([name, each]) => `${textOf(name, escapes)}: ${textOf(each, escapes)}`).join(",")}}`;
  }
  if (Array.isArray(value)) return `[${value.map((each) => textOf(each, escapes)).join(" ,")}]`;
  if (typeof value !== "string" || !escapes) return JSON.stringify(value);
  const units = Array.from({ length: value.length }, (_, at) => value.charCodeAt(at).toString(16).padStart(4, "0"));
  return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
}

const shell = fc.constantFrom(["[", "]"], ['{"a":', "}"], ['{"]":[', "]}"], ["[0,", ",[]]"]);
const document = fc
  .tuple(json, fc.boolean(), shell, fc.oneof(fc.constant(0), fc.integer({ min: 55, max: 70 })))
  .map(([value, escapes, [open = "", close = ""], levels]) =>
    Buffer.from(open.repeat(levels) + textOf(value, escapes) + close.repeat(levels)),
  );
const mutated = fc
  .tuple(
    document,
    fc.array(fc.tuple(fc.nat(), fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('[]{}"\\')))), { maxLength: 3 }),
    fc.nat(),
  )
  .map(([bytes, changes, cut]) => {
    const changed = Buffer.from(bytes);
    for (const [at, byte] of changes) changed[at % bytes.length] = byte;
    return cut % 3 === 0 ? changed.subarray(0, cut % (bytes.length + 1)) : changed;
  });
const hostile = fc
  .tuple(fc.constantFrom("[", '{"a":', '["', '\\"', '"\\', "]", "[[]", "1", "\0"), fc.integer({ min: 1, max: 17_000 }))
  .map(([piece, count]) => Buffer.from(piece.repeat(count)).subarray(0, maxBodyBytes + 2));
const anyBody = fc.oneof(
  { weight: 4, arbitrary: document },
  { weight: 4, arbitrary: mutated },
  { weight: 1, arbitrary: hostile },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
);

describe("a body of arbitrary bytes", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, {
      routes: (server) => server.post("/echo", (request, reply) => reply.send({ body: request.body })),
    });
  });

  test("is parsed as JSON.parse does, or refused as too deep, as not UTF-8, as text that can't be stored, or as invalid", async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(anyBody, async (payload) => {
        const expected = expectedOf(payload);
        const headers = { "content-type": "application/json" };
        const response = await running.server.inject({ method: "POST", url: "/echo", headers, payload });
        running.logged.length = 0;
        assert.equal(response.statusCode, expected.status, response.body);
        const body = response.json<{ body?: unknown; errors?: { pointer: string }[] }>();
        if (expected.status === 200) assert.deepEqual(body, JSON.parse(JSON.stringify({ body: expected.body })));
        const pointer = "pointer" in expected ? expected.pointer : undefined;
        if (pointer !== undefined) assert.equal(body.errors?.[0]?.pointer, pointer);
        const kind = `${expected.status}${pointer === undefined ? "" : " at a pointer"}`;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }),
      runs,
    );
    for (const kind of ["200", "400", "400 at a pointer", "413"])
      assert.ok((seen.get(kind) ?? 0) > 2, `${kind}: ${JSON.stringify([...seen])}`);
  });
});
