// Runs a service from its source, and restarts it when a source file of the service or of a package changes. A service with pages is
// built first. When the parent process is killed, it detects the disconnect and stops the service.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { stopProcess } from "../stop-process.ts";
import { watchSources } from "../watch-sources.ts";

const [entry = "", inspectPort] = process.argv.slice(2);
const inspect = inspectPort === undefined ? [] : [`--inspect=127.0.0.1:${inspectPort}`];
const root = join(import.meta.dirname, "../../..");
const packages = globSync("packages/*/src", { cwd: root }).map((folder) => join(root, folder));
const name = relative(root, entry);
const sources = watchSources([dirname(entry), ...packages], (path) => /\.test(-support|-fixture)?\.ts$/.test(path));

const buildScript = join(dirname(entry), "../scripts/build.ts");
const hasBuild = existsSync(buildScript);

const stopping = new AbortController();
let service: ChildProcess | undefined;
let wasReady = false;
const stop = async (): Promise<void> => {
  stopping.abort();
  if (service !== undefined) await stopProcess(service);
  process.exit(service?.exitCode ?? 0);
};
process.on("SIGTERM", () => void stop());
process.on("disconnect", () => void stop());
process.on("message", () => {
  wasReady = true;
});

while (!stopping.signal.aborted) {
  const change = sources.nextChange();
  // If it fails, its output says why, and the previous build is served.
  if (hasBuild) await once(spawn(process.execPath, [buildScript], { stdio: "inherit" }), "exit");
  service = spawn(process.execPath, [...inspect, entry], { stdio: "inherit" });
  const isRunning = await Promise.race([once(service, "exit").then(() => false), change.then(() => true)]);
  if (stopping.signal.aborted) break;
  if (!isRunning) {
    // Before it has been ready once, the stack reports the failure and ends.
    if (!wasReady) process.exit(service.exitCode ?? 1);
    console.log(`${name} has exited. It is started again when a source file changes.`);
  }
  console.log(`${relative(root, await change)} has changed. Restarting ${name}.`);
  await stopProcess(service);
}
