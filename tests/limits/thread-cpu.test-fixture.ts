// Loaded into a service's process with --import: serves the CPU time that the thread of its event loop has used so far.
// CPU time and not wall-clock time, because other processes on the machine must not count.
import { createServer } from "node:http";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  const cpuMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  // The turn of the event loop that used the most CPU time, from /watch until /longest-turn.
  let longest: number | undefined;
  const watch = (last: number): void => {
    if (longest === undefined) return;
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    setImmediate(watch, now);
  };
  const server = createServer((request, response) => {
    if (request.url === "/watch") {
      longest = 0;
      watch(cpuMs());
      response.end();
    } else if (request.url === "/longest-turn") {
      response.end(String(longest));
      longest = undefined;
    } else response.end(String(cpuMs()));
  });
  // The test asks rarely while a slow request runs, and must not find its connection closed.
  server.keepAliveTimeout = 0;
  server.listen(Number(process.env["THREAD_CPU_PORT"]), "127.0.0.1").unref();
}
