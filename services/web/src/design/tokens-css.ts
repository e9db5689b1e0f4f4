import { fontFamily, fontSizes, radii, type Theme, themes } from "./tokens.ts";

const toKebabCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const declare = (values: Record<string, string>, prefix = ""): string =>
  Object.entries(values)
    .map(([name, value]) => `--${prefix}${toKebabCase(name)}:${value};`)
    .join("");

const declareTheme = (name: "light" | "dark", theme: Theme): string => `color-scheme:${name};${declare({ ...theme })}`;

/** The design tokens as custom properties. The theme is the system's, unless `data-theme` of the root names one. */
export function tokensCss(): string {
  const { light, dark } = themes;
  const sizes = Object.fromEntries(Object.entries(fontSizes).map(([name, rem]) => [name, `${rem}rem`]));
  return [
    `:root{--font:${fontFamily};${declare(sizes, "font-")}${declare({ ...radii }, "radius-")}${declareTheme("light", light)}}`,
    `@media (prefers-color-scheme:dark){:root:not([data-theme="light"]){${declareTheme("dark", dark)}}}`,
    `:root[data-theme="dark"]{${declareTheme("dark", dark)}}`,
    `@media print{:root:root{${declareTheme("light", light)}}}`,
  ].join("\n");
}
