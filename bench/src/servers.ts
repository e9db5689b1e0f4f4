import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { marketplaceEnvironment } from "@ehr-marketplace/dev/marketplace-environment";
import { stopProcess } from "@ehr-marketplace/dev/stop-process";

export interface BenchServer {
  url: string;
  /** CPU time that its process has used so far, in microseconds. */
  cpu(): Promise<number>;
  stop(): Promise<void>;
}

/** Rate limits are raised; limits, logs and metrics are on as in production. */
export async function startApi(databaseUrl: string, environment: Record<string, string> = {}): Promise<BenchServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logDirectory = await mkdtemp(join(tmpdir(), "ehr-marketplace-log-"));
  const log = await open(join(logDirectory, "api.log"), "w");
  const child = fork(new URL("../../services/marketplace/src/api.ts", import.meta.url).pathname, [], {
    execArgv: ["--import", new URL("./report-cpu.process.ts", import.meta.url).href],
    env: {
      ...marketplaceEnvironment(databaseUrl),
      PATH: process.env["PATH"] ?? "",
      // As in production, apart from an issuer whose keys come without TLS.
      NODE_ENV: "development",
      METRICS_TOKEN: "bench",
      HOST: "127.0.0.1",
      MARKETPLACE_PORT: String(port),
      PUBLIC_REQUESTS_PER_MINUTE: "1000000000",
      CALLER_REQUESTS_PER_MINUTE: "1000000000",
      ...environment,
    },
    // A file, as a container's runtime keeps: reading a pipe would take time from what is measured.
    stdio: ["ignore", log.fd, "inherit", "ipc"],
  });
  await log.close();
  const deadline = Date.now() + 30_000;
  while ((await fetch(`${url}/health/ready`).catch(() => undefined))?.ok !== true) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error("the API did not become ready");
    await delay(50);
  }
  return {
    url: `${url}/api/v1`,
    async cpu() {
      const answer = once(child, "message");
      child.send("cpu");
      const [{ cpu }] = (await answer) as [{ cpu: NodeJS.CpuUsage }];
      return cpu.user + cpu.system;
    },
    async stop() {
      await stopProcess(child);
      await rm(logDirectory, { recursive: true });
    },
  };
}

export async function startBare(bodies: Record<string, Buffer>): Promise<BenchServer> {
  const child = fork(new URL("./bare-server.process.ts", import.meta.url).pathname);
  const answer = once(child, "message");
  child.send(Object.fromEntries(Object.entries(bodies).map(([path, body]) => [path, body.toString("base64")])));
  const [{ url }] = (await answer) as [{ url: string }];
  return {
    url,
    async cpu() {
      const { user, system } = (await (await fetch(`${url}/cpu`)).json()) as NodeJS.CpuUsage;
      return user + system;
    },
    stop: () => stopProcess(child),
  };
}
