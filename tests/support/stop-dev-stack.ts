import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { eventually } from "@ehr-marketplace/test-kit";
import type { DevStack } from "./dev-stack.ts";

export async function assertStops(stack: DevStack, signal: NodeJS.Signals): Promise<void> {
  stack.signal(signal);
  // npm exits at once; its child process prints when it has stopped.
  await eventually("the stack prints stopped", 30_000, () => /^stopped$/m.test(stack.output()));
  await assert.rejects(fetch(stack.marketplaceUrl));
}

/** Finds the processes that have the stack's port in their environment, including npm. */
export async function processesOf(stack: DevStack): Promise<string[]> {
  const marker = `MARKETPLACE_PORT=${new URL(stack.marketplaceUrl).port}\0`;
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(ids.map((id) => readFile(`/proc/${id}/environ`, "utf8").catch(() => "")));
  return ids.filter((_id, index) => environments[index]?.includes(marker));
}

/** Stops a stack that is starting, and fails if it begins the next step nevertheless. */
export async function assertStopsEarly(stack: DevStack, next: string): Promise<void> {
  await assertStops(stack, "SIGINT");
  assert.match(stack.output(), /^SIGINT: stopping after the current step …$/m);
  assert.ok(!stack.output().includes(next), stack.output());
  await eventually("all processes have exited", 15_000, async () => (await processesOf(stack)).length === 0);
}
