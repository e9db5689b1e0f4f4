import assert from "node:assert/strict";
import type { ImportResult } from "@ehr-marketplace/contracts";

/** Sends lines to a route that imports them; a text is sent as it is. */
export function postImport(url: string, token: string, lines: (object | string)[]): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body: lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
  });
}

/** Sends lines, and checks that the import responds as documented. */
export async function sendImport(url: string, token: string, lines: (object | string)[]): Promise<ImportResult[]> {
  const { assertShape } = await import("@ehr-marketplace/test-kit/contract");
  const response = await postImport(url, token, lines);
  const text = await response.text();
  assert.equal(response.status, 200, text.slice(0, 500));
  assert.equal(response.headers.get("content-type"), "application/x-ndjson; charset=utf-8");
  assert.ok(text === "" || text.endsWith("\n"), "the last line is complete");
  const results = text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
  for (const result of results) assertShape("ImportResult", result);
  return results as ImportResult[];
}
