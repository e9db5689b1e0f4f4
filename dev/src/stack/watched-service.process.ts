// Runs a service from its source, and restarts it when a file changes. When the parent process is killed, it detects the disconnect and
// stops the service.
import { spawn } from "node:child_process";

const [entry = "", inspectPort] = process.argv.slice(2);
// With --watch, the inspector is that of the service: the process that watches has none.
const inspect = inspectPort === undefined ? [] : [`--inspect=127.0.0.1:${inspectPort}`];
const service = spawn(process.execPath, [...inspect, "--watch", "--watch-preserve-output", entry], {
  stdio: "inherit",
});
const stop = (): void => {
  service.kill("SIGTERM");
};
process.on("SIGTERM", stop);
process.on("disconnect", stop);
service.on("exit", (code) => process.exit(code ?? 0));
