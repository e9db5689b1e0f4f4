import { marketplace } from "../api/apis.ts";

/** A link can't send the header that the proxy needs, so the file is read by a script, and given to the browser. */
export async function downloadCsv(alias: string, month: string): Promise<string> {
  const content: unknown = await marketplace("GET /organisations/{alias}/statements/{month}", {
    path: { alias, month },
    query: { format: "csv" },
  });
  if (typeof content !== "string") throw new Error("The statement isn't CSV.");
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
