import { color } from "./color.ts";
import { escapeXml } from "./escape-xml.ts";

export interface Area {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Palette {
  strong: string;
  accent: string;
  soft: string;
  faint: string;
  canvas: string;
}

export interface Screen {
  area: Area;
  palette: Palette;
  /** Returns numbers between 0 and 1, in the same sequence for the same app and title, so that a screenshot never changes. */
  random: () => number;
}

export interface Tone {
  ink: string;
  paper: string;
}

export const neutral = {
  ink: "#1f2733",
  muted: "#6b7585",
  placeholder: "#d8dde5",
  line: "#e6e9ef",
  paper: "#ffffff",
};

export const tones: Record<"good" | "wait" | "alert" | "quiet", Tone> = {
  good: { ink: "#1c7a4a", paper: "#dff5e8" },
  wait: { ink: "#8f5b06", paper: "#fdf0d2" },
  alert: { ink: "#b02a37", paper: "#fde4e4" },
  quiet: { ink: "#566071", paper: "#edf0f4" },
};

export function paletteOf(hue: number): Palette {
  return {
    strong: color(0.42, 0.13, hue),
    accent: color(0.58, 0.16, hue),
    soft: color(0.87, 0.065, hue),
    faint: color(0.955, 0.025, hue),
    canvas: color(0.98, 0.006, hue),
  };
}

export function seededRandom(seed: string): () => number {
  let state = 2166136261;
  for (let index = 0; index < seed.length; index++) {
    state = Math.imul(state ^ seed.charCodeAt(index), 16777619);
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function pick<T>(random: () => number, [first, ...rest]: readonly [T, ...T[]]): T {
  return [first, ...rest][Math.floor(random() * (rest.length + 1))] ?? first;
}

export function times(count: number, draw: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => draw(index)).join("");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function rect(area: Area, fill: string, radius = 0, extra = ""): string {
  const rounded = radius === 0 ? "" : ` rx="${radius}"`;
  return `<rect x="${round(area.x)}" y="${round(area.y)}" width="${round(area.w)}" height="${round(area.h)}"${rounded} fill="${fill}"${extra}/>`;
}

export function circle(x: number, y: number, r: number, fill: string): string {
  return `<circle cx="${round(x)}" cy="${round(y)}" r="${round(r)}" fill="${fill}"/>`;
}

export function card(area: Area): string {
  return rect(area, neutral.paper, 14, ` stroke="${neutral.line}"`);
}

interface TextStyle {
  size?: number;
  weight?: number;
  fill?: string;
  anchor?: "start" | "middle" | "end";
}

export function text(x: number, y: number, content: string, style: TextStyle = {}): string {
  const { size = 15, weight = 400, fill = neutral.ink, anchor = "start" } = style;
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}" font-weight="${weight}" fill="${fill}" text-anchor="${anchor}">${escapeXml(content)}</text>`;
}

/** A placeholder for names and other texts that a screenshot of demo data must not show. */
export function bar(x: number, y: number, width: number, fill: string = neutral.placeholder, height = 10): string {
  return rect({ x, y, w: width, h: height }, fill, height / 2);
}

export function pill(x: number, y: number, label: string, tone: Tone): string {
  const width = 26 + label.length * 7.4;
  return (
    rect({ x, y, w: width, h: 28 }, tone.paper, 14) +
    text(x + width / 2, y + 19, label, { size: 13, weight: 600, fill: tone.ink, anchor: "middle" })
  );
}

export function avatar(x: number, y: number, palette: Palette, r = 17): string {
  return (
    circle(x, y, r, palette.soft) +
    circle(x, y - r * 0.22, r * 0.34, palette.accent) +
    `<path d="M${round(x - r * 0.58)} ${round(y + r * 0.66)}a${round(r * 0.58)} ${round(r * 0.5)} 0 0 1 ${round(r * 1.16)} 0z" fill="${palette.accent}"/>`
  );
}

export function path(d: string, stroke: string, width = 2, fill = "none"): string {
  return `<path d="${d}" fill="${fill}" stroke="${stroke}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"/>`;
}

export function smoothLine(points: readonly (readonly [number, number])[]): string {
  return points
    .map(([x, y], index) => {
      const previous = points[index - 1];
      if (previous === undefined) {
        return `M${round(x)} ${round(y)}`;
      }
      const middle = round((previous[0] + x) / 2);
      return `C${middle} ${round(previous[1])} ${middle} ${round(y)} ${round(x)} ${round(y)}`;
    })
    .join("");
}
