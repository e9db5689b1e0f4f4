import { color } from "./color.ts";
import { escapeXml } from "./escape-xml.ts";
import { type Glyph, glyphs } from "./glyphs.ts";

function isGlyph(name: string): name is Glyph {
  return Object.hasOwn(glyphs, name);
}

export function drawIcon(app: { glyph: string; hue: number; name: string }): string {
  if (!isGlyph(app.glyph)) {
    throw new Error(`No glyph is called "${app.glyph}" (icon of ${app.name})`);
  }
  const glyph: { line: string; tint?: string } = glyphs[app.glyph];
  // From top to bottom: in a PNG, a gradient in another direction takes five times the space.
  // Ids must be unique, because several icons may be inlined in one page.
  const id = `icon-${app.glyph}-${app.hue}`;
  const tint = glyph.tint === undefined ? "" : `<path d="${glyph.tint}" fill="#fff" fill-opacity=".22"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" width="96" height="96" role="img">
<title>${escapeXml(app.name)}</title>
<defs>
<linearGradient id="${id}" x1="0" y1="0" x2="0" y2="1">
<stop offset="0" stop-color="${color(0.66, 0.18, app.hue)}"/>
<stop offset="1" stop-color="${color(0.47, 0.17, app.hue + 22)}"/>
</linearGradient>
</defs>
<rect width="96" height="96" rx="22" fill="url(#${id})"/>
<g transform="translate(24 24)">${tint}<path d="${glyph.line}" fill="none" stroke="#fff" stroke-width="5" stroke-linecap="round" stroke-linejoin="round"/></g>
</svg>
`;
}
