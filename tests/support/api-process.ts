import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { ehrEnvironment, loopbackNetworks, marketplaceEnvironment } from "@ehr-marketplace/dev/service-environments";
import type { CleanUp } from "./clean-up.ts";
import { eventually } from "./eventually.ts";

export interface ApiProcess {
  url: string;
  child: ChildProcess;
  /** What the process has logged so far, parsed. */
  logged: Record<string, unknown>[];
  ready(): Promise<boolean>;
  /** Resolves to the exit code once the process has gone. */
  ended: Promise<number | null>;
}

const services = new URL("../../services/", import.meta.url).pathname;

interface ProcessOptions {
  /** A free one unless given. */
  port?: number;
  environment?: Record<string, string>;
  nodeOptions?: string[];
}

/** The API as it runs in production: a process of its own, which a test may kill. */
export function startApiProcess(
  cleanUp: CleanUp,
  databaseUrl: string,
  options: ProcessOptions = {},
): Promise<ApiProcess> {
  return startProcess(cleanUp, "marketplace/src/api.ts", marketplaceEnvironment(databaseUrl), options);
}

/** A worker, likewise. Endpoints and callbacks on loopback are allowed to it. */
export function startWorkerProcess(
  cleanUp: CleanUp,
  databaseUrl: string,
  options: ProcessOptions = {},
): Promise<ApiProcess> {
  return startProcess(cleanUp, "marketplace/src/worker.ts", marketplaceEnvironment(databaseUrl), options);
}

/** The EHR's API, likewise. */
export function startEhrProcess(
  cleanUp: CleanUp,
  databaseUrl: string,
  options: ProcessOptions & { marketplaceUrl: string },
): Promise<ApiProcess> {
  const places = { marketplaceUrl: options.marketplaceUrl, fhirBaseUrl: "https://fhir.example/{orgAlias}" };
  return startProcess(cleanUp, "ehr/src/api.ts", ehrEnvironment(databaseUrl, places), options);
}

async function startProcess(
  cleanUp: CleanUp,
  entry: string,
  own: Record<string, string>,
  options: ProcessOptions,
): Promise<ApiProcess> {
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [...(options.nodeOptions ?? []), `${services}${entry}`], {
    env: {
      ...own,
      PATH: process.env["PATH"],
      NODE_ENV: "test",
      HOST: "127.0.0.1",
      MARKETPLACE_PORT: String(port),
      WORKER_PORT: String(port),
      EHR_PORT: String(port),
      VENDOR_ALLOWED_NETWORKS: loopbackNetworks.join(),
      // What other processes do to this machine is no reason to shed.
      MAX_EVENT_LOOP_DELAY_MS: "60000",
      CALLER_REQUESTS_PER_MINUTE: "100000000",
      PUBLIC_REQUESTS_PER_MINUTE: "100000000",
      ...options.environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const logged: Record<string, unknown>[] = [];
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) logged.push(JSON.parse(line) as Record<string, unknown>);
  });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  cleanUp(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const ready = async (): Promise<boolean> =>
    (await fetch(`${url}/health/ready`).catch(() => undefined))?.status === 200;
  await eventually(`${entry} is ready`, 120_000, () => {
    assert.equal(child.exitCode, null, `${entry} ended before it was ready`);
    return ready();
  });
  return { url, child, logged, ready, ended };
}
