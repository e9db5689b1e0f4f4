interface GlyphPaths {
  /** Stroked in white. */
  line: string;
  /** Filled with translucent white, beneath the line. */
  tint?: string;
}

function circle(x: number, y: number, r: number): string {
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

function box(x: number, y: number, w: number, h: number, r: number): string {
  const corner = (dx: number, dy: number) => `a${r} ${r} 0 0 1 ${dx} ${dy}`;
  const across = w - 2 * r;
  const down = h - 2 * r;
  return (
    `M${x + r} ${y}h${across}${corner(r, r)}v${down}${corner(-r, r)}h${-across}` +
    `${corner(-r, -r)}v${-down}${corner(r, -r)}z`
  );
}

/** Draws a dot as a line of almost no length with a round cap. */
function dot(x: number, y: number): string {
  return `M${x} ${y}h.01`;
}

/** The shape is both stroked and tinted; the details are stroked only. */
function solid(shape: string, details = ""): GlyphPaths {
  return { line: `${shape}${details}`, tint: shape };
}

function mirrored(shape: (side: 1 | -1) => string): string {
  return shape(1) + shape(-1);
}

function lung(side: 1 | -1): string {
  const x = (offset: number) => 24 + side * offset;
  return `M${x(7)} 16C${x(13)} 14 ${x(21)} 26 ${x(21)} 38C${x(21)} 43 ${x(17)} 45 ${x(13)} 43C${x(9)} 41 ${x(7)} 39 ${x(7)} 35z`;
}

function hemisphere(side: 1 | -1): string {
  const x = (offset: number) => 24 + side * offset;
  const sweep = side === 1 ? 1 : 0;
  const arc = (r: number, offset: number, y: number) => `A${r} ${r} 0 0 ${sweep} ${x(offset)} ${y}`;
  return `M24 9${arc(7, 13, 9)}${arc(7, 18, 20)}${arc(7.5, 18, 32)}${arc(7, 11, 41)}${arc(7, 0, 40)}z`;
}

function footprint(x: number, y: number): string {
  return (
    `M${x} ${y + 10}c0-6 3-10 7-10s7 4 7 10c0 4-1.5 6-2 9h-9c-.5-3-3-5-3-9z` +
    `M${x + 3} ${y + 27}h9v1a4.5 4.5 0 0 1-9 0z`
  );
}

const folder = "M4 38V10a4 4 0 0 1 4-4h9l6 7h17a4 4 0 0 1 4 4v21a4 4 0 0 1-4 4H8a4 4 0 0 1-4-4z";
const inboxTray = "M4 28l7-20a4 4 0 0 1 4-3h18a4 4 0 0 1 4 3l7 20v11a4 4 0 0 1-4 4H8a4 4 0 0 1-4-4z";
const speechBubble = "M9 5h30a5 5 0 0 1 5 5v21a5 5 0 0 1-5 5H25l-11 9v-9H9a5 5 0 0 1-5-5V10a5 5 0 0 1 5-5z";
const toothOutline =
  "M24 9C19 5 14 4 10 6 5 9 4 15 5 21c1 5 3 7 4 12 1 6 1 11 5 11 5 0 3-14 10-14s5 14 10 14c4 0 4-5 5-11" +
  "c1-5 3-7 4-12 1-6 0-12-5-15C34 4 29 5 24 9z";
const boneOutline =
  "M13.5 28L28 13.5A6.5 6.5 0 1 1 39 9A6.5 6.5 0 1 1 34.5 20L20 34.5A6.5 6.5 0 1 1 9 39A6.5 6.5 0 1 1 13.5 28z";
const microbeSpikes = "M24 3v8M24 37v8M3 24h8M37 24h8M9.5 9.5l5 5M33.5 33.5l5 5M9.5 38.5l5-5M33.5 14.5l5-5";

/** Drawn on a 48 by 48 grid. */
export const glyphs = {
  archive: solid(box(3, 5, 42, 12, 4), "M7 17v22a4 4 0 0 0 4 4h26a4 4 0 0 0 4-4V17M19 27h10"),
  baby: solid(circle(24, 26, 19), `M24 7c0-4 4-5.5 7-3.5${dot(16.5, 25)}${dot(31.5, 25)}M17.5 33c3.5 4 9.5 4 13 0`),
  badge: solid(box(8, 12, 32, 33, 6), `M24 3v9${circle(24, 24, 4.5)}M16 38c1-4 4-5.5 8-5.5s7 1.5 8 5.5`),
  barcode: {
    line: "M4 14V9a5 5 0 0 1 5-5h5M34 4h5a5 5 0 0 1 5 5v5M44 34v5a5 5 0 0 1-5 5h-5M14 44H9a5 5 0 0 1-5-5v-5M15 16v16M24 16v16M33 16v16",
  },
  bell: solid("M7 35c4-3 5-8 5-15a12 12 0 0 1 24 0c0 7 1 12 5 15z", "M19 42.5c2.5 3 7.5 3 10 0M24 3v5"),
  bone: solid(boneOutline),
  book: solid("M24 11C19 7 12 6 4 7v31c8-1 15 0 20 4 5-4 12-5 20-4V7c-8-1-15 0-20 4z", "M24 11v31"),
  box: solid("M24 3l19 10v22L24 45 5 35V13z", "M5 13l19 10 19-10M24 23v22"),
  brain: solid(mirrored(hemisphere), "M14 18c2 0 3 1 3.5 3M34 31c-2 0-3-1-3.5-3"),
  bridge: {
    line: "M12 7v35M36 7v35M3 33h42M3 22C8 19 12 14 12 7c2 10 6 15 12 15s10-5 12-15c0 7 4 12 9 15M24 22v11",
    tint: "M3 22C8 19 12 14 12 7c2 10 6 15 12 15s10-5 12-15c0 7 4 12 9 15v11H3z",
  },
  calendar: solid(box(4, 8, 40, 36, 7), "M4 19.5h40M15 3v9M33 3v9M16.5 31l5.5 5.5 9.5-9.5"),
  chart: { line: "M5 5v34a5 5 0 0 0 5 5h34M15.5 33v-6M26 33V13M36.5 33V21" },
  chat: solid(speechBubble, "M14 16h20M14 25h11"),
  clipboard: solid(box(7, 8, 34, 37, 6), `M16 29l6 6 11-11M17 8a4 4 0 0 1 4-5h6a4 4 0 0 1 4 5v4H17z`),
  coins: solid(circle(18, 18, 14), "M18 12.5v11M37.5 20.5A14 14 0 1 1 20.5 37.5"),
  cup: solid("M5 17h31v14a12 12 0 0 1-12 12h-7A12 12 0 0 1 5 31z", "M36 21h2.5a6 6 0 0 1 0 12H36M14 4v5M26 4v5"),
  cursor: solid("M6 6l36 13-15 8-8 15z", "M29 29l13 13"),
  document: solid("M8 39V9a5 5 0 0 1 5-5h15l12 12v23a5 5 0 0 1-5 5H13a5 5 0 0 1-5-5z", "M28 4v12h12M17 27h14M17 35h8"),
  door: {
    line: `M3 44h42M10 44V9a5 5 0 0 1 5-5h18a5 5 0 0 1 5 5v35${dot(29, 25)}`,
    tint: "M10 44V9a5 5 0 0 1 5-5h18a5 5 0 0 1 5 5v35z",
  },
  envelope: solid(box(3, 8, 42, 32, 6), "M5 13l19 14 19-14"),
  eye: solid(`M2 24C7 14 15 9 24 9s17 5 22 15c-5 10-13 15-22 15S7 34 2 24z`, circle(24, 24, 6.5)),
  feather: solid("M43 5C25 4 12 15 12 30v6h6C33 36 44 23 43 5z", "M4 44l25-25"),
  flask: {
    line: "M17 4h14M20 4v14L7.5 37A4.5 4.5 0 0 0 11 44h26a4.5 4.5 0 0 0 3.5-7L28 18V4M13 31h22",
    tint: "M12 31h24l4.5 6A4.5 4.5 0 0 1 37 44H11a4.5 4.5 0 0 1-3.5-7z",
  },
  folder: solid(folder, "M15 28h17M26 21.5l6.5 6.5-6.5 6.5"),
  footprints: solid(footprint(5, 3) + footprint(29, 11)),
  gauge: { line: `M10 40A20.5 20.5 0 1 1 38 40M24 27l8-10${dot(24, 27)}M16 45h16`, tint: circle(24, 25, 20.5) },
  heart: solid("M24 43C10 33 4 25 4 17A11 11 0 0 1 24 12 11 11 0 0 1 44 17c0 8-6 16-20 26z"),
  hourglass: {
    line: "M8 4h32M8 44h32M13 4v8c0 6 11 8 11 12s-11 6-11 12v8M35 4v8c0 6-11 8-11 12s11 6 11 12v8",
    tint: "M13 44v-8c0-6 11-8 11-12s11 6 11 12v8zM13 4h22v8c0 6-11 8-11 12S13 18 13 12z",
  },
  house: {
    line: "M4 22L24 4l20 18M9 18v21a5 5 0 0 0 5 5h20a5 5 0 0 0 5-5V18M24 35.5l-6-6a4 4 0 0 1 6-5 4 4 0 0 1 6 5z",
    tint: "M24 4l15 14v21a5 5 0 0 1-5 5H14a5 5 0 0 1-5-5V18z",
  },
  "id-card": solid(box(2, 8, 44, 32, 6), `${circle(15, 20, 4)}M9 33c1-3.5 3-5 6-5s5 1.5 6 5M30 19h8M30 29h8`),
  inbox: solid(inboxTray, "M4 28h11l3 6h12l3-6h11"),
  invoice: solid("M8 44V9a5 5 0 0 1 5-5h22a5 5 0 0 1 5 5v35l-8-5-8 5-8-5z", "M17 15h14M17 25h14"),
  keyboard: solid(box(2, 9, 44, 30, 6), `${dot(11, 19)}${dot(20, 19)}${dot(28.5, 19)}${dot(37, 19)}M16 29.5h16`),
  kidney: solid(
    "M28 5c10 0 16 8 16 18s-6 18-16 18c-6 0-9-4-9-8 0-5 4-6 4-10s-4-5-4-10c0-4 3-8 9-8z",
    "M23 23h-9c-6 0-9 3-9 9v12",
  ),
  lantern: solid("M17 10h14c7 3 11 8 11 14s-4 11-11 14H17C10 35 6 30 6 24s4-11 11-14z", "M18 3h12M18 45h12M24 10v28"),
  link: { line: "M20 28a10 10 0 0 0 14 0l8-8A10 10 0 0 0 28 6l-4 4M28 20a10 10 0 0 0-14 0l-8 8a10 10 0 0 0 14 14l4-4" },
  lungs: solid(mirrored(lung), "M24 4v17M24 21l-7 5M24 21l7 5"),
  magnifier: solid(circle(20, 20, 17), "M32.5 32.5L45 45M13.5 16.5h13M13.5 24h8"),
  "map-pin": solid("M24 45C14 35 7 28 7 19.5a17 17 0 0 1 34 0C41 28 34 35 24 45z", circle(24, 19.5, 6)),
  microbe: solid(circle(24, 24, 13), `${microbeSpikes}${dot(20, 21)}${dot(28, 25)}`),
  microphone: solid(box(15.5, 3, 17, 27, 8.5), "M6 22.5a18 18 0 0 0 36 0M24 40.5V46"),
  moon: solid("M43 29A19.5 19.5 0 1 1 19 5a15.5 15.5 0 0 0 24 24z", "M36 4v10M31 9h10"),
  mountain: solid("M2 42L18 13l9 16 5-8 14 21z", circle(36, 8.5, 4)),
  pen: solid("M29.5 6a5 5 0 0 1 7 0l2.5 2.5a5 5 0 0 1 0 7L19 35.5 7 38l2.5-12z", "M25 10.5l9.5 9.5M7 46h34"),
  pill: solid("M7 26L26 7a10.6 10.6 0 0 1 15 15L22 41A10.6 10.6 0 0 1 7 26z", "M16.5 16.5l15 15"),
  printer: {
    line: "M12 15V4h24v11M12 35H8a5 5 0 0 1-5-5V20a5 5 0 0 1 5-5h32a5 5 0 0 1 5 5v10a5 5 0 0 1-5 5h-4M12 28h24v16H12z",
    tint: box(3, 15, 42, 20, 5),
  },
  pulse: { line: "M2 26h9l7-18 12 33 7-15h9" },
  radar: {
    line: `M24 24L39 9M43 17.5A20.5 20.5 0 1 1 30 4.5M33.5 24A9.5 9.5 0 1 1 24 14.5`,
    tint: circle(24, 24, 20.5),
  },
  refresh: { line: "M42 19A19 19 0 0 0 7 18M6 29A19 19 0 0 0 41 30M43 7v12H31M5 41V29h12" },
  shield: solid("M24 3l18 7v13c0 11-7 18-18 22C13 41 6 34 6 23V10z", "M15.5 24l6 6 11-11"),
  sprout: solid(
    "M24 29C24 18 16 13 4 13c0 11 7 16 20 16zM24 23C24 11 31 4 44 4c0 12-7 19-20 19z",
    "M24 23v21M12 44h24",
  ),
  star: solid("M24 4l6 13 14 2-10 10 2.5 14.5L24 36.5 11.5 43.5 14 29 4 19l14-2z"),
  sunrise: {
    line: "M3 35h42M11 35a13 13 0 0 1 26 0M24 5v8M6.5 15l5 5M41.5 15l-5 5M13 44h22",
    tint: "M11 35a13 13 0 0 1 26 0z",
  },
  syringe: solid("M26 10l12 12-18 18H8V28z", "M32 16l9-9M34 3l11 11M11 37l-7.5 7.5M19.5 17l5.5 5.5"),
  target: solid(circle(24, 24, 20.5), `${circle(24, 24, 10.5)}${dot(24, 24)}`),
  thermometer: solid("M17 27V10a7 7 0 0 1 14 0v17a11.5 11.5 0 1 1-14 0z", `M24 17v18${dot(24, 35)}M38 9h5M38 18h5`),
  tooth: solid(toothOutline),
  users: solid(
    `${circle(18, 14, 9)}M3 43c0-9 6-14 15-14s15 5 15 14z`,
    "M33 5.5a9 9 0 0 1 0 17M38.5 30.5c4 2 6.5 6.5 6.5 12.5",
  ),
  venn: {
    line: circle(17, 24, 14.5) + circle(31, 24, 14.5),
    tint: "M24 11.5a14.5 14.5 0 0 1 0 25a14.5 14.5 0 0 1 0-25z",
  },
  video: solid(box(2, 10, 31, 28, 7), "M33 21l12-8v22l-12-8M11 19h6"),
} satisfies Record<string, GlyphPaths>;

export type Glyph = keyof typeof glyphs;
