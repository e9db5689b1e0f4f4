// Runs a service from its source, and restarts it when a file changes. When the parent process is killed, it detects the disconnect and
// stops the service.
import { spawn } from "node:child_process";

const [entry = ""] = process.argv.slice(2);
const service = spawn(process.execPath, ["--watch", "--watch-preserve-output", entry], { stdio: "inherit" });
const stop = (): void => {
  service.kill("SIGTERM");
};
process.on("SIGTERM", stop);
process.on("disconnect", stop);
service.on("exit", (code) => process.exit(code ?? 0));
