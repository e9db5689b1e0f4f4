// Loaded into a service's process with --import: serves the CPU time that the event loop's thread has used so far.
// CPU time instead of wall-clock time, because other processes on the machine must not count.
import { createServer } from "node:http";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  const cpuMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  // The most CPU time of one event loop iteration between /watch and /longest-iteration.
  let maxIterationMs: number | undefined;
  const watch = (last: number): void => {
    if (maxIterationMs === undefined) return;
    const now = cpuMs();
    maxIterationMs = Math.max(maxIterationMs, now - last);
    setImmediate(watch, now);
  };
  const server = createServer((request, response) => {
    if (request.url === "/watch") {
      maxIterationMs = 0;
      watch(cpuMs());
      response.end();
    } else if (request.url === "/longest-iteration") {
      response.end(String(maxIterationMs));
      maxIterationMs = undefined;
    } else response.end(String(cpuMs()));
  });
  // Keep the connection open: the test sends no request here while a slow request runs.
  server.keepAliveTimeout = 0;
  server.listen(Number(process.env["THREAD_CPU_PORT"]), "127.0.0.1").unref();
}
