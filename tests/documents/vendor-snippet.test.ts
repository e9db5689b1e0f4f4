import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const docs = new URL("../../docs/", import.meta.url);

test("the vendor's guide shows the tested verification code", async () => {
  const guide = await readFile(new URL("guides/vendor.md", docs), "utf8");
  const [, shown] = /^```ts\n(.*?)^```$/ms.exec(guide) ?? [];
  const snippet = await readFile(new URL("snippets/verify/typescript/verify-webhook.ts", docs), "utf8");
  assert.ok(shown !== undefined && shown.includes("verifyStandard"));
  assert.ok(snippet.includes(shown));
});
