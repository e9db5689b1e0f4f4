import { styleText } from "node:util";

export interface Figure {
  name: string;
  /** The measured value, formatted. */
  measured: string;
  /** The bare reference of the same run, formatted; empty where the goal is absolute. */
  reference: string;
  value: number;
  /** Without a goal, the figure is only printed. */
  goal?: { atLeast: number } | { atMost: number };
}

const isReached = ({ value, goal }: Figure): boolean =>
  goal === undefined || ("atLeast" in goal ? value >= goal.atLeast : value <= goal.atMost);

function goalCells(figure: Figure): [string, string] {
  const { goal } = figure;
  if (goal === undefined) return ["", ""];
  const text = "atLeast" in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`;
  return [text, isReached(figure) ? "reached" : "SHORT"];
}

/** Prints a table and a last line of JSON; returns whether every figure reaches its goal. */
export function printFigures(bench: string, figures: Figure[]): boolean {
  const rows = figures.map((figure) => [
    figure.name,
    figure.measured,
    figure.reference,
    figure.value.toFixed(2),
    ...goalCells(figure),
  ]);
  const header = ["figure", "measured", "bare reference", "value", "goal", ""];
  const widths = header.map((title, column) =>
    Math.max(...[header, ...rows].map((row) => row[column]?.length ?? 0), title.length),
  );
  const line = (row: string[]): string => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  console.log(`\n${styleText("bold", line(header))}`);
  for (const row of rows) console.log(row.at(-1) === "SHORT" ? styleText("red", line(row)) : line(row));
  const ok = figures.every(isReached);
  console.log(`\n${JSON.stringify({ bench, reached: ok, figures })}`);
  return ok;
}
