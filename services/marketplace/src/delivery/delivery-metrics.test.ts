import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { createDeliveryMetrics } from "./delivery-metrics.ts";

const none = { waiting: 0, queued: 0, held: 0, disabled: 0, oldestSeconds: 0 };

test("the backlog is counted at most every 15 seconds and never concurrently, however often it is read", async () => {
  const registry = new Registry();
  let [reads, reading, elapsedMs] = [0, 0, 0];
  const readBacklog = async (): Promise<typeof none> => {
    reads += 1;
    reading += 1;
    assert.equal(reading, 1);
    // Resolved by the test: meanwhile others read, and time passes.
    await new Promise((resolve) => setImmediate(resolve));
    elapsedMs += 20_000;
    reading -= 1;
    return { ...none, waiting: reads };
  };
  createDeliveryMetrics(registry, readBacklog, () => elapsedMs);
  const ask = async (): Promise<string> =>
    /^webhook_deliveries_waiting (\d+)$/m.exec(await registry.metrics())?.[1] ?? "";

  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), ["1", "1", "1"]);
  elapsedMs += 14_999;
  assert.equal(await ask(), "1");
  elapsedMs += 1;
  assert.deepEqual(await Promise.all([ask(), ask()]), ["2", "2"]);
});

test("a failed count is omitted from the metrics and retried at the next read", async () => {
  const registry = new Registry();
  let away = true;
  const metrics = createDeliveryMetrics(registry, async () => {
    if (away) throw new Error("the database is away");
    return { ...none, held: 7 };
  });
  metrics.recordSwept(3);
  for (const said of [await registry.metrics(), await registry.metrics()]) {
    assert.match(said, /^webhook_swept_total 3$/m);
    assert.doesNotMatch(said, /^webhook_recipients_held /m);
  }
  away = false;
  assert.match(await registry.metrics(), /^webhook_recipients_held 7$/m);
});
