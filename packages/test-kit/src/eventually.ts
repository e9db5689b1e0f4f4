import { setTimeout as delay } from "node:timers/promises";

/** Polls a condition until it is true, and fails after `withinMs`. */
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
