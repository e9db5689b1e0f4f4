// Runs Keycloak in a process group of its own, which ends with this process, also when the parent process is killed: kc.sh starts Java as
// a child process, which would outlive it.
import { spawn } from "node:child_process";
import { join } from "node:path";

const [home = "", ...args] = process.argv.slice(2);
const keycloak = spawn(join(home, "bin/kc.sh"), args, { detached: true, stdio: ["ignore", "inherit", "inherit"] });
// Nothing is lost: the database is in memory.
const stop = (): void => {
  if (keycloak.pid !== undefined) process.kill(-keycloak.pid, "SIGKILL");
};
process.on("disconnect", stop);
process.on("SIGTERM", stop);
keycloak.on("error", ({ message }) => {
  console.error(message);
  process.exit(1);
});
keycloak.on("exit", (code) => process.exit(code ?? 1));
