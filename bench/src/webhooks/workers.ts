import { fork } from "node:child_process";
import { once } from "node:events";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { marketplaceEnvironment } from "@ehr-marketplace/dev/service-environments";
import { stopProcess } from "@ehr-marketplace/dev/stop-process";
import { waitUntilReady } from "../servers.ts";

export interface Stoppable {
  stop(): Promise<void>;
}

export async function startBareWorker(mode: "latency" | "drain", url: string, inFlight = 128): Promise<Stoppable> {
  const child = fork(new URL("./bare-worker.process.ts", import.meta.url).pathname, [mode, url, String(inFlight)]);
  await once(child, "message");
  return {
    async stop() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

export async function startWorker(serviceUrl: string, environment: Record<string, string> = {}): Promise<Stoppable> {
  const port = await freePort();
  const child = fork(new URL("../../../services/marketplace/src/worker.ts", import.meta.url).pathname, [], {
    env: {
      ...marketplaceEnvironment(serviceUrl),
      PATH: process.env["PATH"] ?? "",
      NODE_ENV: "development",
      HOST: "127.0.0.1",
      WORKER_PORT: String(port),
      LOG_LEVEL: "warn",
      ...environment,
    },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  await waitUntilReady(child, `http://127.0.0.1:${port}`);
  return { stop: () => stopProcess(child) };
}
