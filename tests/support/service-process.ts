import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { bundleFolder } from "@ehr-marketplace/dev/bundle";
import { freePort } from "@ehr-marketplace/dev/free-port";
import {
  ehrEnvironment,
  loopbackNetworks,
  marketplaceEnvironment,
  webEnvironment,
} from "@ehr-marketplace/dev/service-environments";
import type { CleanUp } from "@ehr-marketplace/test-kit";
import { eventually, getSharedPart, keepLog } from "@ehr-marketplace/test-kit";
import type { Issuer } from "./callers.ts";
import { stopAtExit } from "./stop-at-exit.ts";

export interface ServiceProcess {
  url: string;
  child: ChildProcess;
  /** The parsed log entries of the process so far. */
  logEntries: Record<string, unknown>[];
  isReady(): Promise<boolean>;
  /** Resolves to the exit code when the process exits. */
  exited: Promise<number | null>;
}

const services = new URL("../../services/", import.meta.url).pathname;

/** A process of a service as images have it, which starts faster than from source. */
export async function findBundled(service: string, name: string): Promise<string> {
  await getSharedPart("bundles");
  return `${bundleFolder(service)}/${name}.js`;
}

interface ProcessOptions {
  /** Default: a free port. */
  port?: number;
  environment?: Record<string, string>;
  nodeOptions?: string[];
}

/** Starts the marketplace's API as a separate process, which a test can kill. */
export function startApiProcess(
  cleanUp: CleanUp,
  databaseUrl: string,
  options: ProcessOptions = {},
): Promise<ServiceProcess> {
  return startProcess(cleanUp, ["marketplace", "api"], marketplaceEnvironment(databaseUrl), options);
}

/** Starts a delivery worker as a separate process. It may deliver to loopback addresses. */
export function startWorkerProcess(
  cleanUp: CleanUp,
  databaseUrl: string,
  options: ProcessOptions = {},
): Promise<ServiceProcess> {
  return startProcess(cleanUp, ["marketplace", "worker"], marketplaceEnvironment(databaseUrl), options);
}

/** Starts the EHR's API as a separate process. */
export function startEhrProcess(
  cleanUp: CleanUp,
  databaseUrl: string,
  options: ProcessOptions & { marketplaceUrl: string },
): Promise<ServiceProcess> {
  const urls = { marketplaceUrl: options.marketplaceUrl, fhirBaseUrl: "https://fhir.example/{orgAlias}" };
  return startProcess(cleanUp, ["ehr", "api"], ehrEnvironment(databaseUrl, urls), options);
}

/** Starts the web as a separate process. */
export async function startWebProcess(
  cleanUp: CleanUp,
  databaseUrl: string,
  options: ProcessOptions & { marketplaceUrl: string; ehrUrl: string; identityProvider: Issuer },
): Promise<ServiceProcess> {
  await getSharedPart("pages");
  const { marketplaceUrl, ehrUrl, identityProvider, port = await freePort() } = options;
  const urls = { publicUrl: `http://127.0.0.1:${port}`, marketplaceUrl, ehrUrl };
  return startProcess(cleanUp, ["web", "web"], webEnvironment(databaseUrl, urls, identityProvider), {
    ...options,
    port,
  });
}

async function startProcess(
  cleanUp: CleanUp,
  [service, name]: [service: string, name: string],
  serviceEnvironment: Record<string, string>,
  options: ProcessOptions,
): Promise<ServiceProcess> {
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const { nodeOptions } = options;
  // Fixtures that a test preloads patch modules, which a bundle doesn't have.
  const entry = nodeOptions === undefined ? await findBundled(service, name) : `${services}${service}/src/${name}.ts`;
  const child = spawn(process.execPath, [...(nodeOptions ?? []), entry], {
    env: {
      ...serviceEnvironment,
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      NODE_ENV: "test",
      HOST: "127.0.0.1",
      MARKETPLACE_PORT: String(port),
      WORKER_PORT: String(port),
      EHR_PORT: String(port),
      WEB_PORT: String(port),
      VENDOR_ALLOWED_NETWORKS: loopbackNetworks.join(),
      // Load from other processes on this machine must not cause load shedding.
      MAX_EVENT_LOOP_DELAY_MS: "60000",
      CALLER_REQUESTS_PER_MINUTE: "100000000",
      CALLER_REQUESTS_AT_ONCE: "1000",
      PUBLIC_REQUESTS_PER_MINUTE: "100000000",
      ...options.environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const logEntries: Record<string, unknown>[] = [];
  const log = keepLog(`${service} ${name}`);
  let partialLine = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = (partialLine + chunk.toString()).split("\n");
    partialLine = lines.pop() ?? "";
    for (const line of lines) {
      log(line);
      logEntries.push(JSON.parse(line) as Record<string, unknown>);
    }
  });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const stop = (): boolean => child.kill("SIGKILL");
  const forget = stopAtExit(stop);
  cleanUp(async () => {
    stop();
    await exited;
    forget();
  });
  const isReady = async (): Promise<boolean> =>
    (await fetch(`${url}/health/ready`).catch(() => undefined))?.status === 200;
  await eventually(`${service} ${name} is ready`, 120_000, () => {
    assert.equal(child.exitCode, null, `${service} ${name} exited before it was ready`);
    return isReady();
  });
  return { url, child, logEntries, isReady, exited };
}
