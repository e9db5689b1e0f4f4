/**
 * Characters that a reader can't see or that change what a reader sees, with which one name can pose as another: control characters, zero-width
 * and direction marks, line separators, variation selectors and everything else that Unicode 17 lets a font ignore. It includes the joiners
 * of a few scripts and of emoji: a name in them is written without.
 */
const ranges: readonly [first: number, last: number][] = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x600, 0x605],
  [0x61c, 0x61c],
  [0x6dd, 0x6dd],
  [0x70f, 0x70f],
  [0x890, 0x891],
  [0x8e2, 0x8e2],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  // An empty Braille pattern, which is a blank that isn't white space.
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x110bd, 0x110bd],
  [0x110cd, 0x110cd],
  [0x13430, 0x1343f],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

/** Other languages have no `\u{…}` in patterns, so those above U+FFFF are in the pattern themselves. */
const toPattern = (code: number): string =>
  code > 0xffff ? String.fromCodePoint(code) : `\\u${code.toString(16).padStart(4, "0")}`;
const invisible = ranges.map(([first, last]) => `${toPattern(first)}-${toPattern(last)}`).join("");

const invisibleCharacter = new RegExp(`[${invisible}]`, "u");

/** Whether a name has a character that names must not have. */
export const hasInvisibleCharacter = (name: string): boolean => invisibleCharacter.test(name);

/** Of a name as people know it: nothing invisible, and not only white space. Linear: what it repeats first, the next part excludes. */
export const namePattern = `^[ \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]*[^\\s${invisible}][^${invisible}]*$`;

export const nameMessage =
  "must have 1 to 200 characters, not only white space, and no control, zero-width or direction characters";
