import { Worker } from "node:worker_threads";

/** Longer than any test waits for a child process without letting the event loop go on. */
const limitMs = 300_000;

/** Ends this process if its event loop doesn't go on: time limits of tests are timers, which never end such a test. */
export function endWhenBlocked(): void {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => Atomics.add(beats, 0, 1), limitMs / 10).unref();
  new Worker(new URL("./blocked-loop.worker.ts", import.meta.url), { workerData: { beats, limitMs } }).unref();
}
