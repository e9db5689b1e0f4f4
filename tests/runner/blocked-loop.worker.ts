// Kills its process when the main thread's event loop has been blocked for too long. See end-when-blocked.ts.
import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";

const { beats, limitMs } = workerData as { beats: Int32Array; limitMs: number };
let last = Atomics.load(beats, 0);
setInterval(() => {
  const now = Atomics.load(beats, 0);
  if (now === last) {
    writeSync(2, `A test has blocked the event loop for ${limitMs / 60_000} minutes: the process ends.\n`);
    process.kill(process.pid, "SIGKILL");
  }
  last = now;
}, limitMs);
