import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@ehr-marketplace/dev/free-port";
import {
  ehrEnvironment,
  marketplaceEnvironment,
  type TokenIssuer,
  webEnvironment,
} from "@ehr-marketplace/dev/service-environments";
import { stopProcess } from "@ehr-marketplace/dev/stop-process";

export interface BenchServer {
  url: string;
  /** The CPU time that the process has used so far, in microseconds. */
  cpu(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the marketplace's API. */
export function startApi(
  databaseUrl: string,
  environment: Record<string, string> = {},
  port?: number,
): Promise<BenchServer> {
  const serviceEnvironment = { ...marketplaceEnvironment(databaseUrl), ...environment };
  return startServer({ entry: "marketplace/src/api.ts", basePath: "/api/v1", environment: serviceEnvironment, port });
}

/** Starts the web. Nobody signs in, so it needs neither the EHR nor an identity provider. */
export async function startWeb(
  databaseUrl: string,
  given: { marketplaceUrl: string; profiles: string | undefined; environment: Record<string, string> },
): Promise<BenchServer> {
  const { marketplaceUrl, profiles } = given;
  const port = await freePort();
  const urls = { publicUrl: `http://127.0.0.1:${port}`, marketplaceUrl, ehrUrl: "http://127.0.0.1:9" };
  const environment = { ...webEnvironment(databaseUrl, urls), ...given.environment };
  return startServer({ entry: "web/src/web.ts", basePath: "", environment, port, profiles });
}

/** Starts the EHR's API. */
export function startEhr(
  databaseUrl: string,
  given: { issuer: TokenIssuer; marketplaceUrl?: string; port?: number; environment?: Record<string, string> },
): Promise<BenchServer> {
  const urls = { marketplaceUrl: given.marketplaceUrl ?? "http://127.0.0.1:9", fhirBaseUrl: "https://fhir.example" };
  const serviceEnvironment = { ...ehrEnvironment(databaseUrl, urls, given.issuer), ...given.environment };
  return startServer({ entry: "ehr/src/api.ts", basePath: "/api", environment: serviceEnvironment, port: given.port });
}

interface ServerOptions {
  /** Below `services`. */
  entry: string;
  basePath: string;
  environment: Record<string, string>;
  port: number | undefined;
  /** A directory for a CPU profile. */
  profiles?: string | undefined;
}

/** Starts a service with raised rate limits; other limits, logs and metrics are on as in production. */
async function startServer({ entry, basePath, environment, ...given }: ServerOptions): Promise<BenchServer> {
  const port = given.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const logDirectory = await mkdtemp(join(tmpdir(), "ehr-marketplace-log-"));
  const log = await open(join(logDirectory, "api.log"), "w");
  const profile = given.profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${given.profiles}`];
  const child = fork(new URL(`../../services/${entry}`, import.meta.url).pathname, [], {
    execArgv: ["--import", new URL("./report-cpu.process.ts", import.meta.url).href, ...profile],
    env: {
      PATH: process.env["PATH"] ?? "",
      // Production would require TLS for the issuer's keys.
      NODE_ENV: "development",
      METRICS_TOKEN: "bench",
      HOST: "127.0.0.1",
      MARKETPLACE_PORT: String(port),
      EHR_PORT: String(port),
      WEB_PORT: String(port),
      PUBLIC_REQUESTS_PER_MINUTE: "1000000000",
      CALLER_REQUESTS_PER_MINUTE: "1000000000",
      CALLER_REQUESTS_AT_ONCE: "1000",
      ...environment,
    },
    // Log to a file, as a container runtime does: reading a pipe would take CPU from the measured process.
    stdio: ["ignore", log.fd, "inherit", "ipc"],
  });
  await log.close();
  await waitUntilReady(child, url);
  return {
    url: `${url}${basePath}`,
    async cpu() {
      const response = once(child, "message");
      child.send("cpu");
      const [{ cpu }] = (await response) as [{ cpu: NodeJS.CpuUsage }];
      return cpu.user + cpu.system;
    },
    async stop() {
      await stopProcess(child);
      await rm(logDirectory, { recursive: true });
    },
  };
}

export async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + 120_000;
  while ((await fetch(`${url}/health/ready`).catch(() => undefined))?.ok !== true) {
    if (child.exitCode !== null || Date.now() > deadline) {
      // It would keep the output open, and a process that reads it would wait forever.
      child.kill("SIGKILL");
      throw new Error(`${child.spawnargs.at(-1)} did not become ready`);
    }
    await delay(50);
  }
}

/** The issuer whose tokens the bare server verifies. */
export interface BareTokens {
  issuer: string;
  audience: string;
  jwksUrl: string;
}

export async function startBare(bodies: Record<string, Buffer>, tokens?: BareTokens): Promise<BenchServer> {
  const child = fork(new URL("./bare-server.process.ts", import.meta.url).pathname);
  const response = once(child, "message");
  const encoded = Object.fromEntries(Object.entries(bodies).map(([path, body]) => [path, body.toString("base64")]));
  const keys: unknown = tokens === undefined ? undefined : await (await fetch(tokens.jwksUrl)).json();
  child.send({ bodies: encoded, ...(tokens === undefined ? {} : { tokens: { ...tokens, keys } }) });
  const [{ url }] = (await response) as [{ url: string }];
  return {
    url,
    async cpu() {
      const { user, system } = (await (await fetch(`${url}/cpu`)).json()) as NodeJS.CpuUsage;
      return user + system;
    },
    stop: () => stopProcess(child),
  };
}
