import { setTimeout as delay } from "node:timers/promises";

/** Polls until the condition is true. After `withinMs`, it is checked once more: a check that began earlier may have seen an older state. */
export async function eventually(
  what: string,
  withinMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const isLast = performance.now() > deadline;
    if (await condition()) return;
    if (isLast) throw new Error(`not within ${withinMs} ms: ${what}`);
    await delay(10);
  }
}
