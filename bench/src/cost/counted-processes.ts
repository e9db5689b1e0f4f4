import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { marketplaceEnvironment } from "@ehr-marketplace/dev/service-environments";
import { stopProcess } from "@ehr-marketplace/dev/stop-process";
import { waitUntilReady } from "../servers.ts";
import { readProcessCpuMs } from "./used-cpu.ts";

/** A process of the marketplace whose CPU time and round trips to PostgreSQL are counted. */
export interface CountedProcess {
  url: string;
  cpuMs(): Promise<number>;
  roundTrips(): Promise<number>;
  stop(): Promise<void>;
}

interface CountedOptions {
  environment: Record<string, string>;
  /** A directory for a CPU profile. */
  profiles: string | undefined;
}

export const startCountedApi = (databaseUrl: string, options: CountedOptions): Promise<CountedProcess> =>
  startCounted("api", "MARKETPLACE_PORT", databaseUrl, options);

export const startCountedWorker = (databaseUrl: string, options: CountedOptions): Promise<CountedProcess> =>
  startCounted("worker", "WORKER_PORT", databaseUrl, options);

async function startCounted(
  entry: "api" | "worker",
  portVariable: string,
  databaseUrl: string,
  { environment, profiles }: CountedOptions,
): Promise<CountedProcess> {
  const port = await freePort();
  const logDirectory = await mkdtemp(join(tmpdir(), "ehr-marketplace-log-"));
  const log = await open(join(logDirectory, `${entry}.log`), "w");
  const profile =
    profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${entry}.cpuprofile`];
  const child = fork(new URL(`../../../services/marketplace/src/${entry}.ts`, import.meta.url).pathname, [], {
    execArgv: ["--import", new URL("./count-round-trips.process.ts", import.meta.url).href, ...profile],
    env: {
      PATH: process.env["PATH"] ?? "",
      // Production would require TLS for the issuer's keys.
      NODE_ENV: "development",
      METRICS_TOKEN: "bench",
      HOST: "127.0.0.1",
      [portVariable]: String(port),
      CALLER_REQUESTS_PER_MINUTE: "1000000000",
      CALLER_REQUESTS_AT_ONCE: "1000",
      ...marketplaceEnvironment(databaseUrl),
      ...environment,
    },
    stdio: ["ignore", log.fd, "inherit", "ipc"],
  });
  await log.close();
  await waitUntilReady(child, `http://127.0.0.1:${port}`);
  const pid = child.pid ?? 0;
  return {
    url: `http://127.0.0.1:${port}/api/v1`,
    cpuMs: () => readProcessCpuMs(pid),
    async roundTrips() {
      const response = once(child, "message");
      child.send("round trips");
      const [{ roundTrips }] = (await response) as [{ roundTrips: number }];
      return roundTrips;
    },
    async stop() {
      await stopProcess(child);
      await rm(logDirectory, { recursive: true });
    },
  };
}
