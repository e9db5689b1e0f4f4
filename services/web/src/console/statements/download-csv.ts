import type { QueryClient } from "@tanstack/react-query";
import { statementQuery } from "../api/practice-queries.ts";
import { statementToCsv } from "./statement-csv.ts";

/** The statement as it is now, as a file. */
export async function downloadCsv(queries: QueryClient, alias: string, month: string): Promise<string> {
  const content = statementToCsv(await queries.fetchQuery(statementQuery(alias, month)));
  const name = `statement-${alias}-${month}.csv`;
  saveFile(name, new Blob([content], { type: "text/csv;charset=utf-8" }));
  return name;
}

/** Browsers read the file after the click. */
const readWithinMs = 60_000;

function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), readWithinMs);
}
