import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { parseGuide } from "@ehr-marketplace/tests/support/guide-commands";
import { signBody, standardHeaders } from "@ehr-marketplace/webhook-signature";

const docs = new URL("../../docs/", import.meta.url);
const guide = await readFile(new URL("guides/vendor.md", docs), "utf8");

test("the vendor's guide shows the tested verification code", async () => {
  const [, shown] = /^```ts\n(.*?)^```$/ms.exec(guide) ?? [];
  const snippet = await readFile(new URL("snippets/verify/typescript/verify-webhook.ts", docs), "utf8");
  assert.ok(shown !== undefined && shown.includes("verifyStandard"));
  assert.ok(snippet.includes(shown));
});

test("the vendor's guide computes by openssl the signatures that the marketplace sends", () => {
  const example = parseGuide(guide).find(({ heading }) => heading === "Signing keys");
  const valueOf = (name: string): string =>
    new RegExp(`^${name}='(.*)'$`, "m").exec(example?.commands ?? "")?.[1] ?? assert.fail(name);
  const [secret, body, id, timestamp] = ["secret", "body", "id", "timestamp"].map(valueOf);
  assert.ok(secret !== undefined && body !== undefined && id !== undefined);
  const headers = standardHeaders({ id, timestamp: Number(timestamp), body, secrets: [secret] });
  assert.equal(example?.expectedOutput, `${signBody(body, secret)}\n${headers["webhook-signature"]}`);
});
