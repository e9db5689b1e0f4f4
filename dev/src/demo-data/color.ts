function linearToSrgb(value: number): number {
  return value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055;
}

function oklchToSrgb(lightness: number, chroma: number, hue: number): [number, number, number] {
  const angle = (hue * Math.PI) / 180;
  const a = chroma * Math.cos(angle);
  const b = chroma * Math.sin(angle);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    linearToSrgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    linearToSrgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    linearToSrgb(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/**
 * A hex colour in OKLCH terms: unlike HSL, equal lightness looks equally light in every hue, so white glyphs and
 * dark text keep their contrast. The result is hex, because not every SVG renderer supports `oklch()`.
 */
export function color(lightness: number, chroma: number, hue: number): string {
  let reduced = chroma;
  let rgb = oklchToSrgb(lightness, reduced, hue);
  while (reduced > 0 && rgb.some((channel) => channel < -0.001 || channel > 1.001)) {
    reduced = Math.max(0, reduced - 0.005);
    rgb = oklchToSrgb(lightness, reduced, hue);
  }
  const hex = rgb.map((channel) =>
    Math.round(Math.min(1, Math.max(0, channel)) * 255)
      .toString(16)
      .padStart(2, "0"),
  );
  return `#${hex.join("")}`;
}
