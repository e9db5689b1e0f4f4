import { escapeXml } from "./escape-xml.ts";
import { type Layout, layouts } from "./screen-layouts.ts";
import {
  type Area,
  avatar,
  bar,
  circle,
  neutral,
  type Palette,
  paletteOf,
  path,
  rect,
  seededRandom,
  text,
  times,
} from "./screen-parts.ts";

const { schedule, list, dashboard, trend, document, board, conversation } = layouts;

const layoutsByCategory: Record<string, readonly Layout[]> = {
  FRONT_OFFICE: [schedule, list, dashboard],
  FINANCIAL: [list, dashboard, document],
  OFFICE_ADMINISTRATION: [board, list, schedule],
  OFFICE_DEVICE_INTEGRATION: [list, document, dashboard],
  DOCUMENTATION: [document, list, dashboard],
  RECORDS_MANAGEMENT: [list, document, dashboard],
  CARE_COORDINATION: [board, list, conversation],
  POPULATION_HEALTH: [dashboard, list, board],
  EHR_EFFICIENCY: [list, document, dashboard],
  ORDERING_PRESCRIBING: [list, document, dashboard],
  MEDICAL_DEVICE_INTEGRATION: [trend, list, document],
  SPECIALTY_EHR: [document, trend, list],
  PATIENT_ENGAGEMENT: [conversation, dashboard, list],
  CLINICAL_DECISION_SUPPORT: [document, trend, dashboard],
  REMOTE_CARE: [trend, list, conversation],
};
const otherLayouts: readonly Layout[] = [list, dashboard, document];

const width = 1280;
const height = 800;
const barHeight = 52;
const navWidth = 232;
const content: Area = { x: navWidth + 32, y: 156, w: width - navWidth - 64, h: height - 156 - 32 };

function windowBar(name: string): string {
  const lights = ["#f0655a", "#f3bd4e", "#59c46b"]
    .map((fill, index) => circle(28 + index * 22, 26, 6.5, fill))
    .join("");
  return (
    rect({ x: 0, y: 0, w: width, h: barHeight }, "#f4f5f8") +
    path(`M0 ${barHeight}H${width}`, neutral.line, 1) +
    lights +
    rect({ x: 440, y: 12, w: 400, h: 28 }, neutral.paper, 14, ` stroke="${neutral.line}"`) +
    text(640, 31, name, { size: 14, weight: 600, fill: neutral.muted, anchor: "middle" })
  );
}

function navigation(palette: Palette, name: string, active: number, random: () => number): string {
  const entries = times(6, (index) => {
    const y = 138 + index * 50;
    const isActive = index === active;
    const ink = isActive ? palette.strong : "#aeb6c3";
    return (
      (isActive ? rect({ x: 16, y: y - 10, w: navWidth - 32, h: 42 }, palette.soft, 10) : "") +
      rect({ x: 32, y: y + 1, w: 20, h: 20 }, ink, 6) +
      bar(66, y + 6, 60 + random() * 70, ink)
    );
  });
  const initial = Array.from(name)[0] ?? "";
  return (
    rect({ x: 0, y: barHeight, w: navWidth, h: height - barHeight }, palette.faint) +
    rect({ x: 28, y: 76, w: 34, h: 34 }, palette.accent, 10) +
    text(45, 100, initial, { size: 19, weight: 700, fill: "#ffffff", anchor: "middle" }) +
    bar(76, 88, 104, palette.strong) +
    entries +
    avatar(46, height - 44, palette, 18) +
    bar(76, height - 54, 92, "#aeb6c3") +
    bar(76, height - 38, 60, neutral.placeholder, 8)
  );
}

function header(palette: Palette, title: string): string {
  const right = width - 32;
  return (
    text(content.x, 106, title, { size: 30, weight: 700 }) +
    bar(content.x, 126, 210, neutral.placeholder, 8) +
    rect({ x: right - 112, y: 82, w: 112, h: 42 }, palette.accent, 21) +
    path(`M${right - 84} 103h14m-7-7v14`, "#ffffff", 2.5) +
    text(right - 60, 108, "New", { weight: 600, fill: "#ffffff" }) +
    rect({ x: right - 330, y: 82, w: 202, h: 42 }, neutral.paper, 21, ` stroke="${neutral.line}"`) +
    `<circle cx="${right - 306}" cy="102" r="6.5" fill="none" stroke="${neutral.muted}" stroke-width="2.5"/>` +
    path(`M${right - 301} 107l5 5`, neutral.muted, 2.5) +
    text(right - 286, 108, "Search", { fill: neutral.muted })
  );
}

export function drawScreenshot(
  app: { name: string; hue: number; category: string },
  title: string,
  index: number,
): string {
  const palette = paletteOf(app.hue);
  const random = seededRandom(`${app.name}/${title}/${index}`);
  const choices = layoutsByCategory[app.category] ?? otherLayouts;
  const layout = choices[index % choices.length] ?? list;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif">
<title>${escapeXml(`${app.name}: ${title}`)}</title>
${rect({ x: 0, y: 0, w: width, h: height }, palette.canvas)}
${windowBar(app.name)}
${navigation(palette, app.name, index % 6, random)}
${header(palette, title)}
${layout({ area: content, palette, random })}
</svg>
`;
}
