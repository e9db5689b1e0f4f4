import assert from "node:assert/strict";
import {
  clientIdPattern,
  contactPattern,
  creditTextPattern,
  displayNamePattern,
  monthPattern,
  namePattern,
  newSlugPattern,
  noNulPattern,
  noticeEmailPattern,
  orgAliasPattern,
  sha256Pattern,
  slugPattern,
  usageRecordIdPattern,
  webUrlPattern,
} from "@ehr-marketplace/contracts";
import { etagPattern } from "@ehr-marketplace/service-kit/http";

/** The subset of JSON Schema that request schemas use. */
export interface Schema {
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
  additionalProperties?: boolean | Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
}

/** The name of an input and its text. */
export type Input = [name: string, text: string];

const fill = (length: number, piece: string): string => piece.repeat(Math.max(0, Math.floor(length / piece.length)));

/** Joins as many items as fit between brackets. */
function wide(bytes: number, brackets: "[]" | "{}", item: (index: number) => string): string {
  const items: string[] = [];
  for (let left = bytes - 2; ; ) {
    const text = item(items.length);
    left -= text.length + 1;
    if (left < 0) return brackets.charAt(0) + items.join(",") + brackets.charAt(1);
    items.push(text);
  }
}

function nested(levels: number, open: string, close: string, innermost = ""): string {
  return open.repeat(levels) + innermost + close.repeat(levels);
}

/** Bodies that are expensive for any schema. */
export function hostileBodies(bytes: number): Input[] {
  const half = Math.floor(bytes / 2);
  const nul = '"\\u0000"';
  return [
    ["nested arrays", nested(half, "[", "]")],
    ["nested arrays that are never closed", fill(bytes, "[")],
    ["nested arrays with a NUL innermost", nested(half - nul.length, "[", "]", nul)],
    ["64 nested arrays with a long text that ends in a NUL", nested(64, "[", "]", `"${fill(half, "a")}\\u0000"`)],
    ["nested objects", nested(Math.floor(bytes / 6) - 1, '{"a":', "}", "1")],
    ["nested objects with a NUL innermost", nested(Math.floor(bytes / 6) - 2, '{"a":', "}", nul)],
    ["nested arrays and objects", nested(Math.floor(bytes / 8) - 1, '[{"a":', "}]", "1")],
    ["nested arrays in an object", `{"a":${nested(half - 4, "[", "]")}}`],
    ["nested arrays with a forbidden key innermost", nested(half - 20, "[", "]", '{"__proto__":1}')],
    ["brackets in a text", `"${fill(bytes - 2, "[{")}"`],
    ["a wide array of numbers", wide(bytes, "[]", () => "1")],
    ["a wide array of different texts", wide(bytes, "[]", (index) => `"${index}"`)],
    ["a wide array of arrays", wide(bytes, "[]", () => "[]")],
    ["a wide array of objects", wide(bytes, "[]", () => "{}")],
    ["a wide array with a NUL at its end", wide(bytes - 10, "[]", () => "1").replace(/\]$/, `,${nul}]`)],
    ["many unknown keys", wide(bytes, "{}", (index) => `"k${index}":1`)],
    ["many keys that are whole numbers", wide(bytes, "{}", (index) => `"${index * 1_048_576}":1`)],
    ["many unknown keys that need escapes in a pointer", wide(bytes, "{}", (index) => `"~/${index}":1`)],
    ["one key many times", wide(bytes, "{}", () => '"k":1')],
    ["a NUL in the last of many keys", wide(bytes - 16, "{}", (index) => `"k${index}":1`).replace(/}$/, `,${nul}:1}`)],
    ["__proto__ after many keys", wide(bytes, "{}", (i) => `"k${i}":{}`).replace(/}$/, ',"__proto__" :1}')],
    [
      "constructor.prototype last",
      wide(bytes, "{}", (i) => `"k${i}":{}`).replace(/}$/, ',"constructor":{"prototype":1}}'),
    ],
    ["many values named __proto__", wide(bytes, "[]", () => '"__proto__"   ')],
    ["one long key", `{"${fill(bytes - 6, "k")}":1}`],
    ["one long text", `"${fill(bytes - 2, "a")}"`],
    ["one long text that is never closed", `"${fill(bytes - 1, "a")}`],
    ["one long text that ends in a NUL", `"${fill(bytes - 8, "a")}\\u0000"`],
    ["one long text of escapes", `"${fill(bytes - 2, "\\u00e9")}"`],
    ["one long text of quotation marks", `"${fill(bytes - 2, '\\"')}"`],
    ["one number of many digits", fill(bytes, "9")],
    ["one number of many decimals", `0.${fill(bytes - 3, "0")}1`],
    ["a number that is too large", "1e400"],
    ["an exponent of many digits", `1e${fill(bytes - 2, "9")}`],
    ["nothing but spaces", fill(bytes, " ")],
    ["nothing but commas", fill(bytes, ",")],
    ["bytes that are no UTF-8", fill(bytes, "\u0080")],
  ];
}

/** For each pattern and format of a request schema: texts of about this length that fail late. */
const nearMisses: Record<string, (length: number) => string[]> = {
  [noNulPattern]: (length) => [`${fill(length, "a")}\0`],
  [displayNamePattern]: (length) => [fill(length, " "), `${fill(length, "a")}\0`],
  [namePattern]: (length) => [fill(length, " "), `${fill(length, "a ")}\u200b`, `${fill(length, " ")}\n`],
  [slugPattern]: (length) => [fill(length, "a-"), `${fill(length, "a")}!`],
  [creditTextPattern]: (length) => [fill(length, " "), `${fill(length, "a")}\n`],
  [clientIdPattern]: (length) => [`${fill(length, " ")}\u007f`, `${fill(length, "~")}é`],
  [noticeEmailPattern]: (length) => [`${fill(length, "a")}@`, `a@${fill(length, "a.")}!`, `a@${fill(length, "-")}!`],
  [usageRecordIdPattern]: (length) => [`${fill(length, "a")}!`, `${fill(length, ".-")} `],
  [orgAliasPattern]: (length) => [`${fill(length, "a")}!`],
  "^[\\w-]+$": (length) => [`${fill(length, "a")}!`, `${fill(length, "-")}!`],
  "^[A-Za-z0-9.-]{1,64}$": (length) => [`${fill(length, "a")}!`, `${fill(length, ".-")}!`],
  "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$": (length) => [`2026-03-18T09:30:00.000${fill(length, "Z")}`],
  [etagPattern]: (length) => [`"${fill(length, "a")}`, `W/"${fill(length, "a")}`],
  [webUrlPattern]: (length) => [
    `https://a/${fill(length, "a")} `,
    `http://127.0.0.1:${fill(length, "1")}`,
    `http://127${fill(length, ".1")}`,
    `http://localhost/${fill(length, "/")} `,
  ],
  "^(/([^~/\\u0000]|~[01])*)*$": (length) => [`/${fill(length, "a")}~`, `${fill(length, "/")}~`, fill(length, "~0")],
  [monthPattern]: (length) => [`2027-0${fill(length, "4")}`],
  [sha256Pattern]: (length) => [`${fill(length, "a")}!`],
  "^[a-z0-9-]+$": (length) => [`${fill(length, "a-")}!`],
  "^[1-9]\\d{0,8}$": (length) => [`${fill(length, "1")}a`],
  [newSlugPattern]: (length) => [fill(length, "a-"), `${fill(length, "search")}!`, fill(length, "sandbox-")],
  [contactPattern]: (length) => [`${fill(length, "a")}@`, `${fill(length, "a@")} `, `https://${fill(length, "a")} `],
  email: (length) => [
    `${fill(length, "a")}@`,
    `${fill(length, "a.")}@a`,
    `a@${fill(length, "a-")}`,
    `a@${fill(length, "a.")}`,
    `"${fill(length, "a")}`,
  ],
  uuid: (length) => ["0198f3a0-0000-7000-8000-00000000000g", fill(length, "0198f3a0-"), fill(length, "0")],
  "date-time": (length) => [
    `2026-03-18T09:30:00.${fill(length, "0")}x`,
    `2026-03-18${fill(length, " ")}`,
    fill(length, "2026-03-18T"),
    `2026-03-18T09:30:00${fill(length, "+")}00:00`,
  ],
  date: (length) => [`2026-03-${fill(length, "1")}`, fill(length, "2026-03-18")],
  uri: (length) => [
    `https://${fill(length, "a")}\\`,
    `https://${fill(length, "a:")}@\\`,
    `https://${fill(length, "a@")}\\`,
    `https://[${fill(length, "1:")}`,
    `https://[${fill(length, "::")}]`,
    `https://${fill(length, "1.")}^`,
    `https://a/${fill(length, "%4")}`,
    `https://a/${fill(length, "a/")}?${"#".repeat(2)}`,
    `${fill(length, "a+")}:`,
  ],
};

/** Returns texts that the schema's pattern and format take long to reject. */
function nearMissesOf(schema: Schema, length: number): string[] {
  return [schema.pattern, schema.format]
    .filter((form) => form !== undefined)
    .flatMap((form) => {
      const texts = nearMisses[form] ?? nearMissOfAlternatives(form, length);
      return typeof texts === "function" ? texts(length) : texts;
    });
}

/** For a pattern that only lists words, such as that of `sort`: its words, repeated. */
function nearMissOfAlternatives(pattern: string, length: number): string[] {
  const words = pattern.match(/\w+/g);
  assert.match(pattern, /^\^\([\w|]+\)/, `no near miss of ${pattern} is known: add one to nearMisses`);
  return (words ?? []).map((word) => fill(length, `${word},`));
}

/** Fails if a schema has a pattern or format of which no near miss is known. */
export function assertNearMisses(schema: Schema): void {
  nearMissesOf(schema, 10);
  const { properties = {}, anyOf = [], items } = schema;
  for (const each of [...Object.values(properties), ...anyOf, ...(items === undefined ? [] : [items])])
    assertNearMisses(each);
}

const isA = (schema: Schema, type: string): boolean =>
  [schema.type].flat().includes(type) || (schema.anyOf ?? []).some((each) => isA(each, type));

/** Texts for a string schema, as long as the schema and as the request allow. */
function textsFor(schema: Schema, maxTextLength: number): string[] {
  const forms = [schema, ...(schema.anyOf ?? [])];
  const lengths = [maxTextLength, ...forms.flatMap(({ maxLength }) => maxLength ?? [])];
  return lengths.flatMap((length) => [
    fill(length, "a"),
    fill(length - 2, "\u{1f48a}"),
    ...forms.flatMap((form) => nearMissesOf(form, length - 1)),
  ]);
}

/** JSON texts that are expensive for a field of this schema. */
function hostileValues(schema: Schema, bytes: number): string[] {
  const texts = isA(schema, "string") ? textsFor(schema, bytes - 32).map((text) => JSON.stringify(text)) : [];
  const ofItems = isA(schema, "array")
    ? [
        wide(bytes, "[]", (index) => JSON.stringify(schema.items?.enum?.[index % 2] ?? String(index))),
        wide(bytes, "[]", (index) => `"${index}"`),
        wide(bytes, "[]", (index) => String(index)),
        wide(bytes, "[]", (index) => `{"a":${index}}`),
        ...textsFor(schema.items ?? {}, 40).map((text) => wide(bytes, "[]", () => JSON.stringify(text))),
      ]
    : [];
  return [
    ...texts,
    ...ofItems,
    nested(Math.floor(bytes / 2) - 1, "[", "]"),
    nested(60, "[", "]", `"${fill(bytes - 140, "a")}\\u0000"`),
    wide(bytes, "{}", (index) => `"k${index}":1`),
    fill(bytes, "9"),
    "1e400",
    "null",
  ].filter((text) => Buffer.byteLength(text) <= bytes);
}

function fieldsOf(schema: Schema, path: string[] = []): { path: string[]; schema: Schema }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    { path: [...path, name], schema: property },
    ...fieldsOf(property, [...path, name]),
  ]);
}

const placeholder = "the hostile value";

function withPlaceholder(body: unknown, [name, ...rest]: string[]): unknown {
  if (name === undefined) return placeholder;
  const fields = (body ?? {}) as Record<string, unknown>;
  return { ...fields, [name]: withPlaceholder(fields[name], rest) };
}

/** The valid body with each field in turn replaced by hostile values. */
export function hostileFields(schema: Schema, valid: object, bytes: number): Input[] {
  return fieldsOf(schema).flatMap(({ path, schema: field }) => {
    const text = JSON.stringify(withPlaceholder(valid, path));
    const quoted = JSON.stringify(placeholder);
    return hostileValues(field, bytes - text.length).map(
      (value): Input => [`/${path.join("/")}: ${value.slice(0, 40)}…`, text.replace(quoted, () => value)],
    );
  });
}

const inUrl = (text: string): string => text.replace(/[^!-~]|[%&+#=?]/gu, encodeURIComponent);

/** Query strings that are expensive for any schema. */
export function hostileQueries(bytes: number): Input[] {
  const parameters = (piece: (index: number) => string): string =>
    wide(bytes, "[]", piece).slice(1, -1).replaceAll(",", "&");
  return [
    ["one parameter without a value many times", parameters(() => "a")],
    ["many parameters", parameters((index) => `k${index}=1`)],
    ["many parameters that are whole numbers", parameters((index) => `${index * 1_048_576}=1`)],
    ["nothing but ampersands", fill(bytes, "&")],
    ["nothing but equals signs", fill(bytes, "=")],
    ["nothing but plus signs", fill(bytes, "+")],
    ["escapes", `a=${fill(bytes - 2, "%41")}`],
    ["escapes of several bytes", `a=${fill(bytes - 2, "%F0%9F%92%8A")}`],
    ["escapes that are none", `a=${fill(bytes - 2, "%zz")}`],
    ["an escape that ends too soon", `a=${fill(bytes - 6, "%41")}%F0%9`],
    ["brackets", `a${fill(bytes - 3, "[a]")}=1`],
    ["a NUL at the end", `a=${fill(bytes - 5, "a")}%00`],
  ];
}

/** Hostile values for each parameter of the schema. */
export function hostileParameters(schema: Schema, bytes: number): Input[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const maxValueLength = bytes - name.length - 20;
    return [
      wide(bytes, "[]", () => `${name}=1`)
        .slice(1, -1)
        .replaceAll(",", "&"),
      ...[...textsFor(property, maxValueLength), fill(maxValueLength, "9"), `-${fill(maxValueLength, "9")}`].map(
        (text) => `${name}=${inUrl(text)}`,
      ),
    ]
      .filter((text) => text.length <= bytes)
      .map((text): Input => [`${name}: ${text.slice(0, 40)}…`, text]);
  });
}

/** The path with hostile values for its parameters. */
export function hostilePaths(url: string, schema: Schema | undefined, bytes: number): Input[] {
  const [first] = /:\w+|\*/.exec(url) ?? [];
  if (first === undefined) return [];
  const property = schema?.properties?.[first.slice(1)] ?? { type: "string" };
  const values = [
    ...textsFor(property, bytes - url.length),
    fill(bytes - url.length, "../"),
    fill(bytes - url.length, "%2e%2e%2f"),
  ];
  return values
    .map((text) => url.replace(first, () => inUrl(text)).replaceAll(/:\w+/g, "0198f3a0-0000-7000-8000-000000000000"))
    .filter((path) => path.length <= bytes)
    .map((path): Input => [`the path ${path.slice(0, 60)}…`, path]);
}

const headerBytes = 12_000;

/** Hostile values for headers that a service reads. */
export function hostileHeaders(schema: Schema | undefined): [name: string, value: string][] {
  const ofSchema = Object.entries(schema?.properties ?? {}).flatMap(([name, property]) =>
    textsFor(property, headerBytes).map((text): [string, string] => [name, text.replaceAll(/[^ -~]/g, "x")]),
  );
  return [
    ...ofSchema,
    ["authorization", `Bearer ${fill(headerBytes, "a")}!`],
    ["authorization", `Bearer${fill(headerBytes, " ")}`],
    ["authorization", `Bearer ${fill(headerBytes, "=")}!`],
    ["authorization", `Bearer ${fill(headerBytes, "e30.")}`],
    ["accept-encoding", fill(headerBytes, "gzip;q=0.001,")],
    ["accept-encoding", fill(headerBytes, ",")],
    ["if-none-match", fill(headerBytes, '"a",')],
    ["x-request-id", fill(headerBytes, "a")],
    ["x-forwarded-for", fill(headerBytes, "1.1.1.1,")],
    ["traceparent", `00-${fill(headerBytes, "0")}`],
    ["origin", `https://${fill(headerBytes, "a.")}`],
    ["range", `bytes=${fill(headerBytes, "0-,")}`],
    ["content-type", `application/json;${fill(headerBytes, " ")}a`],
    ["content-type", `application/json;${fill(headerBytes, "a=b;")}`],
    ["content-type", `application/json;a="${fill(headerBytes, "\\a")}`],
    ["content-type", fill(headerBytes, "a/")],
  ];
}
