import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { cleanUpAfter, followGuide, guideSteps, startDevStack } from "@ehr-marketplace/tests/support";

test("the practice's guide works as it is written, and prints what it promises", async (t) => {
  const steps = guideSteps(await readFile(new URL("../../docs/guides/practice.md", import.meta.url), "utf8"));
  const printed = await followGuide(steps, await startDevStack(cleanUpAfter(t)));
  for (const [index, { commands, promised }] of steps.entries()) assert.equal(printed[index], promised ?? "", commands);

  const under = (heading: string): (string | undefined)[] =>
    printed.filter((text, index) => text !== "" && steps[index]?.heading === heading);
  assert.deepEqual(under("Subscribe"), ["active"]);
  assert.deepEqual(under("Send it again when no answer came"), ["the same subscription", "already-subscribed"]);
  assert.deepEqual(under("List what you have"), ["northwind-scribe is active"]);
  assert.deepEqual(under("Pause and resume"), ["paused", "active"]);
  assert.deepEqual(under("Cancel"), ["cancelled"]);
  const [audit] = under("Read the audit log");
  assert.deepEqual(
    audit?.split("\n").map((entry) => entry.split(" ")[0]),
    ["subscription.cancel", "subscription.resume", "subscription.pause", "subscription.create"],
  );
});
