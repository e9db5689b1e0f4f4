import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { bundleFolder, bundleServices } from "@ehr-marketplace/dev/bundle";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import {
  prepareEhrDatabase,
  prepareMarketplaceDatabase,
  prepareWebDatabase,
  startCluster,
} from "@ehr-marketplace/dev/postgres";
import { ehrEnvironment, marketplaceEnvironment, webEnvironment } from "@ehr-marketplace/dev/service-environments";
import { buildPages } from "@ehr-marketplace/web/build";
import type { Figure } from "../figures.ts";
import { median } from "../measure.ts";

const rounds = 7;
const pollMs = 5;

/** From the start of the process to the first 200 of its readiness check, in seconds. */
async function measureStart(entry: string, environment: Record<string, string>, portName: string): Promise<number> {
  const port = await freePort();
  const node = { PATH: process.env["PATH"], NODE_ENV: "development" };
  const env = { ...node, ...environment, LOG_LEVEL: "silent", [portName]: String(port) };
  const began = performance.now();
  const child = spawn(process.execPath, [entry], { env, stdio: ["ignore", "ignore", "inherit"] });
  const isReady = async (): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined))?.status === 200;
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${entry} exited`);
    await setTimeout(pollMs);
  }
  const seconds = (performance.now() - began) / 1_000;
  child.kill("SIGTERM");
  await once(child, "exit");
  return seconds;
}

/** How long services take to start, bundled as images have them. */
export async function serviceStarts(): Promise<Figure[]> {
  await Promise.all([bundleServices(), buildPages()]);
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-build-"));
  const cluster = await startCluster({ directory, throwaway: true });
  const identityProvider = await startIdentityProvider({ port: 0 });
  try {
    const marketplace = await prepareMarketplaceDatabase(cluster.url, "marketplace");
    const ehr = await prepareEhrDatabase(cluster.url, "ehr");
    const web = await prepareWebDatabase(cluster.url, "web");
    const unreachable = "http://127.0.0.1:9";
    const urls = { publicUrl: unreachable, marketplaceUrl: unreachable, ehrUrl: unreachable };
    const ehrUrls = { marketplaceUrl: unreachable, fhirBaseUrl: "https://fhir.example/{orgAlias}" };
    const shared = marketplaceEnvironment(marketplace.serviceUrl, identityProvider);
    const services: [string, string, Record<string, string>, string][] = [
      ["API", "marketplace/api", shared, "MARKETPLACE_PORT"],
      ["worker", "marketplace/worker", shared, "WORKER_PORT"],
      ["EHR", "ehr/api", ehrEnvironment(ehr.serviceUrl, ehrUrls, identityProvider), "EHR_PORT"],
      ["web", "web/web", webEnvironment(web.serviceUrl, urls, identityProvider), "WEB_PORT"],
    ];
    const figures: Figure[] = [];
    for (const [name, path, environment, portName] of services) {
      const [service = "", entry = ""] = path.split("/");
      const seconds: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        seconds.push(await measureStart(`${bundleFolder(service)}/${entry}.js`, environment, portName));
      }
      const value = median(seconds);
      const measured = `${value.toFixed(2)} s`;
      figures.push({ name: `start of the ${name}`, measured, reference: "", value, goal: { atMost: 1 } });
    }
    return figures;
  } finally {
    await identityProvider.stop();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
