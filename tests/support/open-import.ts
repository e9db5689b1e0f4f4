import { type IncomingMessage, request } from "node:http";
import type { ImportResult, ImportSummary } from "@ehr-marketplace/contracts";

export interface OpenImport {
  /** The results so far. */
  results: ImportResult[];
  /** The last line, once it is there. */
  summary: ImportSummary | undefined;
  write(lines: object[]): void;
  end(): void;
  /** Resolves when the connection is closed, for whatever reason. */
  closed: Promise<void>;
}

/** Starts an import whose upload stays open until `end` is called. */
export function openImport(url: string, token: string): OpenImport {
  const outgoing = request(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
  });
  const opened: OpenImport = {
    results: [],
    summary: undefined,
    write: (lines) => outgoing.write(lines.map((line) => `${JSON.stringify(line)}\n`).join("")),
    end: () => outgoing.end(),
    closed: new Promise((resolve) => outgoing.once("close", resolve)),
  };
  // A killed process breaks the connection.
  outgoing.on("error", () => undefined);
  outgoing.on("response", (response: IncomingMessage) => {
    response.on("error", () => undefined);
    let partial = "";
    response.setEncoding("utf8").on("data", (text: string) => {
      const lines = (partial + text).split("\n");
      partial = lines.pop() ?? "";
      for (const each of lines) {
        const line = JSON.parse(each) as ImportResult | ImportSummary;
        if ("line" in line) opened.results.push(line);
        else opened.summary = line;
      }
    });
  });
  return opened;
}
