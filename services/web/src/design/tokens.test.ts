import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Theme, themes } from "./tokens.ts";
import { tokensCss } from "./tokens-css.ts";

/** Relative luminance by WCAG 2.2. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

const pairs: [text: keyof Theme, surfaces: (keyof Theme)[], minContrast: number][] = [
  ["text", ["surface", "raised", "accentSoft", "warningSoft"], 4.5],
  ["muted", ["surface", "raised", "accentSoft"], 4.5],
  ["accent", ["surface", "raised", "accentSoft"], 4.5],
  ["onAccent", ["accent"], 4.5],
  ["positive", ["surface", "raised"], 4.5],
  ["warning", ["surface", "raised", "warningSoft"], 4.5],
  ["danger", ["surface", "raised"], 4.5],
  ["control", ["surface", "raised"], 3],
];

for (const [name, theme] of Object.entries(themes)) {
  describe(`in the ${name} theme`, () => {
    for (const [text, surfaces, minContrast] of pairs) {
      for (const surface of surfaces) {
        test(`${text} on ${surface} has a contrast of at least ${minContrast}`, () => {
          assert.ok(
            contrast(theme[text], theme[surface]) >= minContrast,
            String(contrast(theme[text], theme[surface])),
          );
        });
      }
    }
  });
}

test("the contrast of black and white is 21", () => assert.equal(contrast("#000000", "#ffffff"), 21));

test("both themes declare the same custom properties", () => {
  const namesIn = (css: string): string[] => [...css.matchAll(/--[\w-]+(?=:)/g)].map(([name]) => name).toSorted();
  const [, , dark = ""] = tokensCss().split("\n");
  const [light = ""] = tokensCss().split("\n");
  assert.deepEqual(
    namesIn(dark),
    namesIn(light).filter((name) => !/^--(font|radius)/.test(name)),
  );
});
