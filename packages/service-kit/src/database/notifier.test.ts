import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually } from "@ehr-marketplace/test-kit";
import { createLogger } from "../telemetry/logger.ts";
import { createPool } from "./connect.ts";
import { listen } from "./listen.ts";
import { createNotifier } from "./notifier.ts";

const logger = createLogger({ service: "notifier-test", level: "silent" });
const options = { service: "notifier-test", poolSize: 2, statementTimeoutMs: 2_000, logger };

test("calls while a notification is being sent share the next one, and none is lost", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { ownerUrl: url } = await cloneDatabase(cleanUp, "empty");
  const pool = createPool({ ...options, url });
  cleanUp(() => pool.end());
  let notified = 0;
  const connected = Promise.withResolvers<void>();
  const listener = listen({
    ...options,
    url,
    channel: "changed",
    onNotification: () => {
      notified += 1;
    },
    onConnected: connected.resolve,
  });
  cleanUp(() => listener.stop());
  await connected.promise;
  const notifier = createNotifier({ pool, channel: "changed", logger });
  for (let call = 0; call < 100; call += 1) notifier.notify();
  await eventually("both arrive", 30_000, () => notified === 2);
  await notifier.stop();
  notifier.notify();
  await eventually("a later call sends its own", 30_000, () => notified === 3);
});

test("an unavailable database fails neither the caller nor later notifications", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const warnings: unknown[] = [];
  const pool = createPool({ ...options, url: "postgres://nobody@127.0.0.1:1/nothing" });
  cleanUp(() => pool.end());
  const notifier = createNotifier({
    pool,
    channel: "changed",
    logger: Object.assign(Object.create(logger) as typeof logger, { warn: (entry: unknown) => warnings.push(entry) }),
  });
  for (const times of [1, 2]) {
    notifier.notify();
    await notifier.stop();
    assert.equal(warnings.length, times);
  }
});
