import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Sends SIGTERM and waits until the process has ended. Does nothing if it has ended already. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}
