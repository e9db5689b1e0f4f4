import { styleText } from "node:util";

/** Prints rows in columns; the first row is the header. */
export function printTable(rows: string[][], isHighlighted: (row: string[]) => boolean = () => false): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const [nth, row] of rows.entries()) {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
    console.log(nth === 0 ? styleText("bold", line) : isHighlighted(row) ? styleText("red", line) : line);
  }
}
