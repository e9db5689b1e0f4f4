import {
  type Area,
  bar,
  card,
  circle,
  neutral,
  path,
  pill,
  rect,
  type Screen,
  smoothLine,
  text,
  times,
  tones,
} from "./screen-parts.ts";

function figures(
  { area, palette, random }: Screen,
  labels: readonly (readonly [label: string, least: number, most: number])[],
): string {
  const gap = 18;
  const w = (area.w - gap * (labels.length - 1)) / labels.length;
  return labels
    .map(([label, least, most], index) => {
      const x = area.x + (w + gap) * index;
      const rising = random() > 0.35;
      const change = `${rising ? "+" : "−"}${1 + Math.floor(random() * 18)} %`;
      const value = String(Math.floor(least + random() * (most - least)));
      const points = Array.from({ length: 7 }, (_, step): [number, number] => [
        x + w - 98 + step * 13,
        area.y + 70 - (rising ? step : 6 - step) * 3 - random() * 18,
      ]);
      return (
        card({ x, y: area.y, w, h: 112 }) +
        text(x + 20, area.y + 34, label, { size: 14, fill: neutral.muted }) +
        text(x + 20, area.y + 78, value, { size: 36, weight: 700 }) +
        text(x + 20, area.y + 99, change, { size: 13, weight: 600, fill: rising ? tones.good.ink : tones.alert.ink }) +
        path(smoothLine(points), palette.accent, 3)
      );
    })
    .join("");
}

function gridLines({ x, y, w, h }: Area): string {
  return times(4, (index) => path(`M${x} ${y + (h / 4) * index}h${w}`, neutral.line, 1));
}

export function dashboard(screen: Screen): string {
  const { area, palette, random } = screen;
  const body: Area = { x: area.x, y: area.y + 130, w: area.w * 0.63, h: area.h - 130 };
  const plot: Area = { x: body.x + 28, y: body.y + 76, w: body.w - 56, h: body.h - 126 };
  const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug"] as const;
  const step = plot.w / months.length;
  const growth = (random() - 0.3) * 0.1;
  const phase = random() * 6;
  const columns = months
    .map((month, index) => {
      const full = plot.h * (0.58 + growth * (index - 3.5) + Math.sin(index + phase) * 0.09 + random() * 0.08);
      const part = full * (0.45 + random() * 0.3);
      const x = plot.x + step * index + step / 2 - 17;
      const bottom = plot.y + plot.h;
      return (
        rect({ x, y: bottom - full, w: 34, h: full }, palette.soft, 7) +
        rect({ x, y: bottom - part, w: 34, h: part }, palette.accent, 7) +
        text(x + 17, bottom + 28, month, { size: 13, fill: neutral.muted, anchor: "middle" })
      );
    })
    .join("");
  const side: Area = { x: body.x + body.w + 18, y: body.y, w: area.w - body.w - 18, h: body.h };
  const share = 0.55 + random() * 0.35;
  const around = 2 * Math.PI * 74;
  const centre = { x: side.x + side.w / 2, y: side.y + 162 };
  const ring = (stroke: string, length: number) =>
    `<circle cx="${centre.x.toFixed(1)}" cy="${centre.y}" r="74" fill="none" stroke="${stroke}" stroke-width="22" stroke-linecap="round" stroke-dasharray="${length.toFixed(1)} ${around.toFixed(1)}" transform="rotate(-90 ${centre.x.toFixed(1)} ${centre.y})"/>`;
  const onTrack = Math.round(share * 100);
  const soon = Math.round((100 - onTrack) * 0.6);
  const shares = [onTrack, soon, 100 - onTrack - soon] as const;
  const legend = times(3, (index) => {
    const y = side.y + 290 + index * 50;
    const fill = [palette.accent, palette.soft, neutral.placeholder][index] ?? palette.accent;
    return (
      circle(side.x + 34, y + 5, 8, fill) +
      bar(side.x + 56, y, 90 + random() * 60) +
      text(side.x + side.w - 26, y + 10, `${shares[index] ?? 0} %`, { weight: 600, anchor: "end" })
    );
  });
  return (
    figures(screen, [
      ["This month", 280, 940],
      ["This week", 70, 220],
      ["Today", 12, 48],
      ["Open now", 3, 11],
    ]) +
    card(body) +
    text(body.x + 28, body.y + 42, "By month", { size: 17, weight: 600 }) +
    gridLines(plot) +
    columns +
    card(side) +
    text(side.x + 26, side.y + 42, "On track", { size: 17, weight: 600 }) +
    ring(palette.faint, around) +
    ring(palette.accent, around * share) +
    text(centre.x, centre.y + 12, `${onTrack} %`, { size: 34, weight: 700, anchor: "middle" }) +
    legend
  );
}

export function trend(screen: Screen): string {
  const { area, palette, random } = screen;
  const body: Area = { x: area.x, y: area.y + 130, w: area.w, h: area.h - 130 };
  const plot: Area = { x: body.x + 64, y: body.y + 80, w: body.w - 100, h: body.h - 134 };
  const steps = 22;
  const phase = random() * 6;
  const pace = 2 + random() * 2.5;
  const slope = (random() - 0.6) * 0.3;
  const series = (base: number, swing: number) =>
    Array.from({ length: steps + 1 }, (_, index): [number, number] => [
      plot.x + (plot.w / steps) * index,
      plot.y +
        plot.h *
          (base +
            Math.sin(index / pace + phase + base * 9) * swing +
            slope * (index / steps - 0.5) +
            (random() - 0.5) * 0.09),
    ]);
  const upper = series(0.34, 0.09);
  const lower = series(0.7, 0.05);
  const bottom = plot.y + plot.h;
  const shade = `${smoothLine(upper)}L${plot.x + plot.w} ${bottom}L${plot.x} ${bottom}z`;
  const marks = upper.map(([x, y], index) =>
    index % 4 === 2 ? circle(x, y, 8, "#fff") + circle(x, y, 5, palette.strong) : "",
  );
  const axis =
    times(5, (index) =>
      text(plot.x - 16, plot.y + (plot.h / 4) * index + 5, String(160 - index * 30), {
        size: 13,
        fill: neutral.muted,
        anchor: "end",
      }),
    ) +
    times(7, (index) =>
      text(plot.x + (plot.w / 6) * index, bottom + 32, `Day ${index * 5 + 1}`, {
        size: 13,
        fill: neutral.muted,
        anchor: "middle",
      }),
    );
  return (
    figures(screen, [
      ["Readings", 120, 480],
      ["Average", 96, 132],
      ["In range, %", 71, 96],
    ]) +
    card(body) +
    text(body.x + 28, body.y + 42, "Last 30 days", { size: 17, weight: 600 }) +
    pill(body.x + body.w - 216, body.y + 22, "Measured", { ink: palette.strong, paper: palette.soft }) +
    pill(body.x + body.w - 108, body.y + 22, "Target", tones.quiet) +
    rect({ x: plot.x, y: plot.y + plot.h * 0.28, w: plot.w, h: plot.h * 0.2 }, tones.good.paper, 6, ' opacity=".7"') +
    gridLines(plot) +
    path(`M${plot.x} ${bottom}h${plot.w}`, neutral.placeholder, 1) +
    `<path d="${shade}" fill="${palette.soft}" opacity=".45"/>` +
    path(smoothLine(lower), palette.soft, 3.5) +
    path(smoothLine(upper), palette.accent, 4) +
    marks.join("") +
    axis
  );
}
