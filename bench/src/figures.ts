import { printTable } from "./print-table.ts";

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

/** Runs the measurements that are listed, such as `1,3`, in this order. */
export async function measureFigures(
  list: string,
  measures: Record<string, () => Promise<Figure[]>>,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const figure of list.split(",")) {
    console.error(`measuring ${figure} …`);
    figures.push(...((await measures[figure]?.()) ?? []));
  }
  return figures;
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
  console.log();
  printTable([header, ...rows], (row) => row.at(-1) === "SHORT");
  const ok = figures.every(isReached);
  console.log(`\n${JSON.stringify({ bench, reached: ok, figures })}`);
  return ok;
}
