import { dashboard, trend } from "./screen-charts.ts";
import {
  type Area,
  avatar,
  bar,
  card,
  circle,
  neutral,
  path,
  pick,
  pill,
  rect,
  type Screen,
  type Tone,
  text,
  times,
  tones,
} from "./screen-parts.ts";

const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri"] as const;
const statuses: readonly [[string, Tone], ...[string, Tone][]] = [
  ["Done", tones.good],
  ["Ready", tones.good],
  ["Waiting", tones.wait],
  ["In review", tones.quiet],
  ["Needs you", tones.alert],
];

function schedule({ area, palette, random }: Screen): string {
  const gutter = 66;
  const header = 54;
  const hours = 9;
  const column = (area.w - gutter) / weekdays.length;
  const row = (area.h - header) / hours;
  const days = weekdays
    .map((day, index) => {
      const x = area.x + gutter + column * index;
      const today = index === 2;
      const highlight = today ? rect({ x, y: area.y + 1, w: column, h: area.h - 2 }, palette.faint) : "";
      const number = today
        ? circle(x + column / 2 + 20, area.y + 28, 16, palette.accent) +
          text(x + column / 2 + 20, area.y + 33, String(index + 9), { weight: 700, fill: "#fff", anchor: "middle" })
        : text(x + column / 2 + 20, area.y + 33, String(index + 9), { weight: 600, anchor: "middle" });
      const label = text(x + column / 2 - 21, area.y + 33, day, { fill: neutral.muted, anchor: "middle" });
      return highlight + label + number;
    })
    .join("");
  const lines = times(hours, (hour) => {
    const y = area.y + header + row * hour;
    return (
      path(`M${area.x + gutter} ${y}H${area.x + area.w}`, neutral.line, 1) +
      text(area.x + gutter - 14, y + 18, `${((hour + 7) % 12) + 1}:00`, {
        size: 13,
        fill: neutral.muted,
        anchor: "end",
      })
    );
  });
  const fills = [palette.soft, palette.soft, palette.accent, palette.faint] as const;
  const visits = times(weekdays.length, (day) => {
    const x = area.x + gutter + column * day + 6;
    let slot = Math.floor(random() * 2);
    let drawn = "";
    while (slot < hours * 2 - 1) {
      const length = Math.min(pick(random, [1, 2, 2, 3]), hours * 2 - slot);
      const fill = pick(random, fills);
      const ink = fill === palette.accent ? "#ffffff" : palette.strong;
      const y = area.y + header + (row / 2) * slot + 3;
      const h = (row / 2) * length - 6;
      drawn += rect({ x, y, w: column - 12, h }, fill, 8, fill === palette.faint ? ` stroke="${palette.soft}"` : "");
      drawn += bar(x + 12, y + Math.min(h / 2 - 4, 14), (column - 60) * (0.5 + random() * 0.45), ink, 8);
      if (length > 1) {
        drawn += rect({ x: x + 12, y: y + 30, w: 56, h: 6 }, ink, 3, ' opacity=".45"');
      }
      slot += length + pick(random, [0, 0, 1, 2]);
    }
    return drawn;
  });
  const nowY = area.y + header + row * 3.4;
  const now = path(`M${area.x + gutter} ${nowY}H${area.x + area.w}`, tones.alert.ink, 2);
  return card(area) + days + lines + visits + now + circle(area.x + gutter, nowY, 6, tones.alert.ink);
}

function tabs({ area, palette }: Screen): string {
  return (
    pill(area.x, area.y, "All", { ink: "#ffffff", paper: palette.accent }) +
    pill(area.x + 58, area.y, "Mine", tones.quiet) +
    pill(area.x + 124, area.y, "Waiting", tones.quiet) +
    pill(area.x + 212, area.y, "Done", tones.quiet)
  );
}

function list(screen: Screen): string {
  const { area, palette, random } = screen;
  const table: Area = { x: area.x, y: area.y + 46, w: area.w, h: area.h - 46 };
  const count = 8;
  const header = 44;
  const row = (table.h - header) / count;
  const heading = { size: 13, weight: 600, fill: neutral.muted };
  const headings =
    text(table.x + 76, table.y + 28, "Item", heading) +
    text(table.x + 420, table.y + 28, "Due", heading) +
    text(table.x + 560, table.y + 28, "Progress", heading) +
    text(table.x + 800, table.y + 28, "Status", heading);
  const dues = ["Today", "Today", "Tomorrow", "Friday", "Next week"] as const;
  const rows = times(count, (index) => {
    const y = table.y + header + row * index;
    const middle = y + row / 2;
    const [label, tone] = pick(random, statuses);
    const done = tone === tones.good ? 1 : 0.15 + random() * 0.7;
    const selected = index === 1 ? rect({ x: table.x + 1, y, w: table.w - 2, h: row }, palette.faint) : "";
    return (
      selected +
      path(`M${table.x} ${y}H${table.x + table.w}`, neutral.line, 1) +
      avatar(table.x + 40, middle, palette) +
      bar(table.x + 76, middle - 13, 120 + random() * 120, "#aeb6c3", 11) +
      bar(table.x + 76, middle + 6, 70 + random() * 180, neutral.placeholder, 8) +
      text(table.x + 420, middle + 5, dues[Math.min(4, Math.floor((index + random()) * 0.6))] ?? "Today") +
      bar(table.x + 560, middle - 4, 170, neutral.line, 8) +
      bar(table.x + 560, middle - 4, 170 * done, palette.accent, 8) +
      pill(table.x + 800, middle - 14, label, tone)
    );
  });
  return tabs(screen) + card(table) + headings + rows;
}

function paragraph(screen: Screen, area: Area, lines: number, highlighted: readonly number[]): string {
  return times(lines, (index) => {
    const y = area.y + index * 24;
    const width = area.w * (index === lines - 1 ? 0.35 + screen.random() * 0.3 : 0.86 + screen.random() * 0.14);
    if (!highlighted.includes(index)) {
      return bar(area.x, y, width);
    }
    const start = area.w * (0.08 + screen.random() * 0.25);
    const length = area.w * (0.2 + screen.random() * 0.25);
    return (
      bar(area.x, y, width) +
      rect({ x: area.x + start - 6, y: y - 6, w: length + 12, h: 22 }, screen.palette.soft, 6) +
      bar(area.x + start, y, length, screen.palette.accent)
    );
  });
}

function documentPage(screen: Screen): string {
  const { area, palette, random } = screen;
  const page: Area = { x: area.x, y: area.y, w: area.w * 0.66, h: area.h };
  const sections = ["Summary", "Details", "Plan"] as const;
  const lines = [4, 6, 4] as const;
  let y = page.y + 84;
  const content = sections
    .map((section, index) => {
      const count = lines[index] ?? 4;
      const heading = text(page.x + 44, y + 18, section, { size: 18, weight: 600, fill: palette.strong });
      const body = paragraph(
        screen,
        { x: page.x + 44, y: y + 40, w: page.w - 88, h: 0 },
        count,
        count > 4 ? [1, 4] : [1],
      );
      y += 66 + count * 24;
      return heading + body;
    })
    .join("");
  const tools =
    times(6, (index) =>
      rect(
        { x: page.x + 40 + index * 44, y: page.y + 18, w: 30, h: 30 },
        index === 1 ? palette.soft : palette.canvas,
        8,
      ),
    ) +
    times(6, (index) => bar(page.x + 48 + index * 44, page.y + 30, 14, index === 1 ? palette.strong : "#aeb6c3", 6));
  const side: Area = { x: page.x + page.w + 18, y: area.y, w: area.w - page.w - 18, h: 144 };
  const notes = times(4, (index) => {
    const top = side.y + index * (side.h + 12);
    const [label, tone] = pick(random, [
      ["Suggested", { ink: palette.strong, paper: palette.soft }],
      ["Checked", tones.good],
      ["To confirm", tones.wait],
    ]);
    return (
      card({ ...side, y: top }) +
      rect({ x: side.x + 1, y: top + 18, w: 5, h: side.h - 36 }, tone.ink, 2.5) +
      pill(side.x + 22, top + 18, label, tone) +
      bar(side.x + 22, top + 64, side.w - 44 - random() * 60) +
      bar(side.x + 22, top + 86, side.w - 60 - random() * 120) +
      text(side.x + 22, top + 126, "Accept", { size: 14, weight: 600, fill: palette.accent }) +
      text(side.x + 92, top + 126, "Edit", { size: 14, weight: 600, fill: neutral.muted })
    );
  });
  const rule = path(`M${page.x} ${page.y + 66}h${page.w}`, neutral.line, 1);
  return card(page) + tools + rule + content + notes;
}

function board({ area, palette, random }: Screen): string {
  const columns = ["New", "In progress", "Waiting", "Done"] as const;
  const gap = 16;
  const w = (area.w - gap * (columns.length - 1)) / columns.length;
  return columns
    .map((column, index) => {
      const x = area.x + (w + gap) * index;
      const cards = [4, 3, 4, 2][index] ?? 3;
      const stack = times(cards, (position) => {
        const y = area.y + 60 + position * 138;
        return (
          card({ x: x + 12, y, w: w - 24, h: 124 }) +
          rect({ x: x + 28, y: y + 18, w: 44, h: 8 }, position % 2 === 0 ? palette.accent : palette.soft, 4) +
          bar(x + 28, y + 40, (w - 60) * (0.6 + random() * 0.38), "#aeb6c3", 11) +
          bar(x + 28, y + 62, (w - 60) * (0.35 + random() * 0.4), neutral.placeholder, 8) +
          avatar(x + 40, y + 96, palette, 13) +
          (random() > 0.5 ? avatar(x + 60, y + 96, palette, 13) : "") +
          text(x + w - 28, y + 101, pick(random, ["Today", "2 d", "5 d", "1 w"]), {
            size: 13,
            fill: neutral.muted,
            anchor: "end",
          })
        );
      });
      return (
        rect({ x, y: area.y, w, h: area.h }, index === 1 ? palette.faint : "#f1f3f7", 14) +
        text(x + 20, area.y + 36, column, { size: 16, weight: 600 }) +
        text(x + w - 20, area.y + 36, String(cards), { weight: 600, fill: neutral.muted, anchor: "end" }) +
        stack
      );
    })
    .join("");
}

function conversation({ area, palette, random }: Screen): string {
  const inbox: Area = { ...area, w: 300 };
  const thread: Area = { x: area.x + 318, y: area.y, w: area.w - 318, h: area.h };
  const row = area.h / 7;
  const people = times(7, (index) => {
    const y = inbox.y + row * index;
    return (
      (index === 0 ? rect({ x: inbox.x + 8, y: y + 8, w: inbox.w - 16, h: row - 14 }, palette.faint, 10) : "") +
      avatar(inbox.x + 42, y + row / 2, palette, 19) +
      bar(inbox.x + 76, y + row / 2 - 14, 80 + random() * 70, "#aeb6c3", 11) +
      bar(inbox.x + 76, y + row / 2 + 6, 110 + random() * 70, neutral.placeholder, 8) +
      (index % 3 === 0 ? circle(inbox.x + inbox.w - 26, y + row / 2, 6, palette.accent) : "")
    );
  });
  const sizes = [2, 1, 3, 2, 1] as const;
  let y = thread.y + 96;
  const bubbles = sizes
    .map((lines, index) => {
      const mine = index % 2 === 1;
      const w = 250 + random() * 140;
      const h = 34 + lines * 20;
      const x = mine ? thread.x + thread.w - w - 28 : thread.x + 74;
      const ink = mine ? "#ffffff" : "#b9c1cd";
      const bubble =
        (mine ? "" : avatar(thread.x + 46, y + 18, palette, 16)) +
        rect({ x, y, w, h }, mine ? palette.accent : "#f1f3f7", 18) +
        times(lines, (line) =>
          rect(
            { x: x + 20, y: y + 20 + line * 20, w: (w - 40) * (line === lines - 1 ? 0.55 : 0.95), h: 9 },
            ink,
            4.5,
            mine ? ' opacity=".85"' : "",
          ),
        );
      y += h + 18;
      return bubble;
    })
    .join("");
  const composer: Area = { x: thread.x + 24, y: thread.y + thread.h - 74, w: thread.w - 48, h: 52 };
  return (
    card(inbox) +
    people +
    card(thread) +
    avatar(thread.x + 46, thread.y + 38, palette, 19) +
    bar(thread.x + 80, thread.y + 26, 150, "#aeb6c3", 11) +
    bar(thread.x + 80, thread.y + 46, 90, neutral.placeholder, 8) +
    pill(thread.x + thread.w - 112, thread.y + 24, "Secure", tones.good) +
    path(`M${thread.x} ${thread.y + 76}h${thread.w}`, neutral.line, 1) +
    bubbles +
    rect(composer, palette.canvas, 26, ` stroke="${neutral.line}"`) +
    text(composer.x + 26, composer.y + 32, "Write a message", { fill: neutral.muted }) +
    circle(composer.x + composer.w - 26, composer.y + 26, 18, palette.accent) +
    path(`M${composer.x + composer.w - 32} ${composer.y + 26}h12m-5-5l5 5-5 5`, "#ffffff", 2.5)
  );
}

export type Layout = (screen: Screen) => string;

export const layouts = {
  schedule,
  list,
  dashboard,
  trend,
  document: documentPage,
  board,
  conversation,
} satisfies Record<string, Layout>;
