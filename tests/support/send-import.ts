import assert from "node:assert/strict";
import type { ImportResult, ImportSummary } from "@ehr-marketplace/contracts";

export interface ImportResponse {
  results: ImportResult[];
  summary: ImportSummary;
}

/** Sends lines to a route that imports them; a text is sent as it is. */
export function postImport(url: string, token: string, lines: (object | string)[]): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body: lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
  });
}

/** Sends lines, and checks that the import responds as documented. */
export async function sendImport(url: string, token: string, lines: (object | string)[]): Promise<ImportResponse> {
  const response = await postImport(url, token, lines);
  const text = await response.text();
  assert.equal(response.status, 200, text.slice(0, 500));
  assert.equal(response.headers.get("content-type"), "application/x-ndjson");
  return parseImportResponse(text);
}

/** Splits a complete response into results and summary. */
export async function parseImportResponse(text: string): Promise<ImportResponse> {
  const { assertShape } = await import("@ehr-marketplace/test-kit/contract");
  assert.ok(text.endsWith("\n"), "the last line is complete");
  const results = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  const summary = results.pop();
  assertShape("ImportSummary", summary);
  for (const result of results) assertShape("ImportResult", result);
  return { results: results as ImportResult[], summary: summary as ImportSummary };
}
