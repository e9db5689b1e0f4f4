import assert from "node:assert/strict";
import { glob, readFile } from "node:fs/promises";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { startWeb } from "@ehr-marketplace/tests/support/web";

/** General HTTP errors, which `/problems/<code>` explains. */
const generalProblems = new Set([
  "not-found",
  "method-not-allowed",
  "payload-too-large",
  "unsupported-media-type",
  "uri-too-long",
  "headers-too-large",
  "request-timeout",
  "internal-error",
]);

async function findUnexplained(url: string, known: string): Promise<string[]> {
  const kinds = (await (await fetch(`${url}/problems`)).json()) as { code: string }[];
  const codes = kinds.map(({ code }) => code);
  assert.ok(codes.includes(known));

  const guides = await Array.fromAsync(glob("docs/guides/*.md"), (path) => readFile(path, "utf8"));
  const text = guides.join("\n");
  return codes.filter((code) => !generalProblems.has(code) && !text.includes(`\`${code}\``));
}

test("a guide explains every problem of the marketplace except general HTTP errors", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp);
  const { url } = await startMarketplace(cleanUp, serviceUrl);
  assert.deepEqual(await findUnexplained(url, "subscription-created-too-often"), []);
});

test("a guide explains every problem of the web except general HTTP errors", async (t) => {
  const { url } = await startWeb(cleanUpAfter(t));
  assert.deepEqual(await findUnexplained(url, "session-required"), []);
});
