import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { cleanUpAfter, followGuide, guideSteps, startDevStack } from "@ehr-marketplace/tests/support";

const docs = new URL("../../docs/", import.meta.url);
const guide = await readFile(new URL("guides/vendor.md", docs), "utf8");

test("the vendor's guide works as it is written, and prints what it promises", async (t) => {
  const steps = guideSteps(guide);
  const stack = await startDevStack(cleanUpAfter(t));
  const ports = { ...stack.ports, RECEIVER_PORT: String(await freePort()) };
  const printed = await followGuide(steps, { ...stack, ports });
  for (const [index, { commands, promised }] of steps.entries()) assert.equal(printed[index], promised ?? "", commands);

  const under = (heading: string): (string | undefined)[] =>
    printed.filter((text, index) => text !== "" && steps[index]?.heading === heading);
  assert.deepEqual(under("Test it"), ["ping, attempt 1, signatures: 1"]);
  assert.deepEqual(under("Hear of a subscription"), ["subscription.created, attempt 1, signatures: 1"]);
  assert.deepEqual(under("Watch deliveries and attempts"), ["answered 503\n1: failed, 503\n2: delivered, 204"]);
  assert.deepEqual(under("Send a delivery again"), ["subscription.paused, attempt 3, signatures: 1, seen before"]);
  assert.deepEqual(under("Rotate the secret"), ["ping, attempt 1, signatures: 2", "ping, attempt 1, signatures: 1"]);
});

test("the vendor's guide shows the verifying code that is tested", async () => {
  const [, shown] = /^```ts\n(.*?)^```$/ms.exec(guide) ?? [];
  const snippet = await readFile(new URL("snippets/verify/typescript/verify-webhook.ts", docs), "utf8");
  assert.ok(shown !== undefined && shown.includes("verifyStandard"));
  assert.ok(snippet.includes(shown));
});
