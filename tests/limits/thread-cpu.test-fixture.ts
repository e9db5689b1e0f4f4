// Loaded into a service's process with --import: serves the CPU time that the thread of its event loop has used so far.
// CPU time and not wall-clock time, because other processes on the machine must not count.
import { createServer } from "node:http";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  const server = createServer((_request, response) => {
    const { user, system } = process.threadCpuUsage();
    response.end(String((user + system) / 1_000));
  });
  // The test asks rarely while a slow request runs, and must not find its connection closed.
  server.keepAliveTimeout = 0;
  server.listen(Number(process.env["THREAD_CPU_PORT"]), "127.0.0.1").unref();
}
