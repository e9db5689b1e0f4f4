import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Asks a process to stop and waits until it has; one that has ended already is left alone. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}
