import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../free-port.ts";
import { stopProcess } from "../stop-process.ts";

export interface ClusterOptions {
  directory: string;
  /** A throwaway cluster is deleted when it stops. */
  throwaway: boolean;
  port?: number;
  settings?: Record<string, string>;
}

export interface Cluster {
  /** Connects as the superuser. */
  url: string;
  port: number;
  stop(): Promise<void>;
  /** Stops as `pg_ctl stop -m immediate` does: without a checkpoint, so that the next start recovers from the WAL. */
  crash(): Promise<void>;
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const port = options.port ?? (await freePort());
  const child = fork(join(import.meta.dirname, "cluster-process.ts"), [JSON.stringify({ ...options, port })], {
    detached: true,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    execArgv: [],
  });
  const [message] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => [{ failed: "the process ended" }]),
  ])) as [{ failed?: string }];
  if (message.failed !== undefined) {
    await stopProcess(child);
    const advice = message.failed.includes('lock file "postmaster.pid" already exists')
      ? "\nAnother PostgreSQL runs there, probably that of another stack. Stop that one, or run: npm run dev -- --ephemeral"
      : "";
    throw new Error(`PostgreSQL did not start in ${options.directory}:\n${message.failed}${advice}`);
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    port,
    stop: () => stopProcess(child),
    async crash() {
      const [pid] = (await readFile(join(options.directory, "postmaster.pid"), "utf8")).split("\n");
      process.kill(Number(pid), "SIGQUIT");
      await stopProcess(child);
    },
  };
}
