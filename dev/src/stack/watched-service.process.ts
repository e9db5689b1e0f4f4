// Runs a service's source, and runs it again whenever a file of it changes. When the stack that asked for it is killed, it
// notices and stops the service, instead of leaving it behind on its port.
import { spawn } from "node:child_process";

const [entry = ""] = process.argv.slice(2);
const service = spawn(process.execPath, ["--watch", "--watch-preserve-output", entry], { stdio: "inherit" });
const stop = (): void => {
  service.kill("SIGTERM");
};
process.on("SIGTERM", stop);
process.on("disconnect", stop);
service.on("exit", (code) => process.exit(code ?? 0));
