import { setTimeout as delay } from "node:timers/promises";

const [minPauseMs, maxPauseMs] = [10, 200];

/**
 * Polls until the condition is true. After `withinMs`, it is checked once more: a check that began earlier may have seen an older state.
 * The longer it takes, the longer are the pauses, because many conditions are a request or a connection to the database.
 */
export async function eventually(
  what: string,
  withinMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const began = performance.now();
  for (;;) {
    const elapsedMs = performance.now() - began;
    const isLast = elapsedMs > withinMs;
    if (await condition()) return;
    if (isLast) throw new Error(`not within ${withinMs} ms: ${what}`);
    await delay(Math.min(Math.max(elapsedMs / 8, minPauseMs), maxPauseMs));
  }
}
