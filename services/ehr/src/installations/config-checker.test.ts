import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { Worker } from "node:worker_threads";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { createConfigChecker } from "./config-checker.ts";

test("a thread that runs out of memory when its check is given up already costs neither the process nor the next check", async (t) => {
  const checker = createConfigChecker(createLogger({ service: "test", level: "silent" }));
  t.after(() => checker.stop());
  const check = () => checker.check("riverside-clinic", JSON.stringify({ type: "object" }), {});
  const [started] = await Promise.all([once(process, "worker"), check()]);
  const [thread] = started as [Worker];
  // As Node tells it of a thread whose memory is used up, when nobody waits for an answer of it any more.
  thread.emit("error", new Error("Worker terminated due to reaching memory limit: JS heap out of memory"));
  assert.deepEqual(await check(), { kind: "valid" });
});
