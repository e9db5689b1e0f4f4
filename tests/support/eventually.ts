import { setTimeout as delay } from "node:timers/promises";

/** Waits for a condition, and fails with its last answer when it doesn't come true in time. */
export async function eventually(
  what: string,
  withinMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await delay(10);
  }
}
