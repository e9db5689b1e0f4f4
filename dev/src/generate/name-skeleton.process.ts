/**
 * Prints the SQL of `name_skeleton` from Unicode's confusables.txt (https://www.unicode.org/Public/security/, Unicode License V3), for a migration:
 * `npx node dev/src/generate/name-skeleton.process.ts confusables.txt`. A later migration that replaces the function has to reindex what uses it.
 */
import { readFileSync } from "node:fs";

const [path = ""] = process.argv.slice(2);
const parse = (codes: string): string =>
  String.fromCodePoint(...codes.split(" ").map((code) => Number.parseInt(code, 16)));
const lines = readFileSync(path, "utf8").split("\n");
const prototypes = new Map(
  lines.flatMap((line): [string, string][] => {
    const [from = "", to] = line.split(";").map((part) => part.trim());
    return to === undefined || from.startsWith("#") ? [] : [[parse(from), parse(to)]];
  }),
);

/** Combining accents, which PostgreSQL gets from the decomposition, too. */
const accents: [number, number] = [0x300, 0x36f];
const step = (text: string): string =>
  Array.from(text.normalize("NFKD"), (character) =>
    // Left for the end: a letter of one character is easier to map to.
    character === "m" ? character : (prototypes.get(character) ?? character),
  )
    .join("")
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/gu, "")
    .replaceAll("i", "l");
/** Unicode's skeleton, without case, accents and the difference of i, l, 1 and |. Mapping and case change each other, so until it is stable. */
function toSkeleton(text: string): string {
  const next = step(text);
  return next === text ? text : toSkeleton(next);
}

const mapped: [from: string, to: string][] = [["|", "l"]];
for (let code = 0; code <= 0x10ffff; code += 1) {
  const character = code >= 0xd800 && code <= 0xdfff ? "" : String.fromCodePoint(code);
  if (!/^[\p{L}\p{N}]$/u.test(character) || character.normalize("NFKD") !== character) continue;
  // If only the capital looks like another letter, the small one follows it, so that case makes no difference.
  const skeleton = [character, character.toUpperCase()].map(toSkeleton).find((text) => /^[a-z0-9]$/.test(text));
  if (skeleton !== undefined && skeleton !== character) mapped.push([character, skeleton]);
}
const ignored: [first: number, last: number][] = [
  [0x20, 0x2f],
  [0x3a, 0x40],
  [0x5b, 0x60],
  [0x7b, 0x7b],
  [0x7d, 0x7e],
  [0xad, 0xad],
  [0xb7, 0xb7],
  accents,
  [0x200b, 0x206f],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
];
const expand = ([first, last]: [number, number]): string =>
  String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, nth) => first + nth));

const escape = (character: string): string => {
  if (/^[A-Za-z0-9|]$/.test(character)) return character;
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\+${code.padStart(6, "0")}` : `\\${code.padStart(4, "0")}`;
};
function literal(text: string): string {
  const parts: string[] = [""];
  for (const character of text) {
    if ((parts.at(-1) ?? "").length > 116) parts.push("");
    parts[parts.length - 1] += escape(character);
  }
  return `U&${parts.map((part) => `'${part}'`).join("\n        ")}`;
}
const isAscii = (text: string): boolean => /^[ -~]$/.test(text);
const translate = (of: string, keep: (character: string) => boolean): string => {
  const kept = mapped.filter(([from]) => keep(from));
  const from =
    kept.map(([character]) => character).join("") + Array.from(ignored.map(expand).join("")).filter(keep).join("");
  const to = kept.map(([, skeleton]) => skeleton).join("");
  return `translate(\n        ${of},\n        ${literal(from)},\n        ${literal(to)}\n      )`;
};
// Trade marks are letters once they are decomposed.
const decomposed = `normalize(translate(name, U&'\\00A9\\00AE\\2120\\2122', ''), NFKD)`;
process.stdout.write(`create or replace function name_skeleton(name text) returns text
language sql immutable strict parallel safe
return left(replace(
    case
      when name ~ '^[ -~]*$' then ${translate("name", isAscii)}
      else lower(${translate(decomposed, () => true)} collate "und-x-icu")
    end, 'm', 'rn'), 200);
`);
