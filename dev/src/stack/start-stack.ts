import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startDemoApp } from "../demo-app/start-demo-app.ts";
import { closePastMonths } from "../demo-data/close-past-months.ts";
import { loadDemoData } from "../demo-data/load-demo-data.ts";
import { loadPastMonths } from "../demo-data/load-past-months.ts";
import { loadSubscribers } from "../demo-data/load-subscribers.ts";
import { startIdentityProvider } from "../identity-provider/index.ts";
import { startCluster } from "../postgres/start-cluster.ts";
import { describeServer } from "./describe-server.ts";
import { assertUsable, type Ports, readDataDirectory, readPorts } from "./ports.ts";
import { prepareDatabases, type StackDatabases } from "./prepare-databases.ts";
import { startService } from "./service-process.ts";
import {
  checkEnvironments,
  ehrService,
  marketplaceService,
  readPublicUrl,
  urlOf,
  webService,
  workerService,
} from "./services.ts";

export interface Stack {
  webUrl: string;
  marketplaceUrl: string;
  workerUrl: string;
  ehrUrl: string;
  demoAppUrl: string;
  issuer: string;
  databases: StackDatabases;
  demo: { apps: number; vendors: number };
  /** Where debuggers attach, with `--inspect`. */
  inspectPorts: Ports["inspect"] | undefined;
  stop(): Promise<void>;
}

export interface StackOptions {
  ephemeral: boolean;
  inspect: boolean;
}

const root = new URL("../../../", import.meta.url).pathname;

/** When `signal` is aborted, it begins no further step, stops what it has started, and rejects. */
export async function startStack(
  options: StackOptions,
  report: (step: string) => void,
  signal: AbortSignal,
): Promise<Stack> {
  const beginStep = (step: string): void => {
    signal.throwIfAborted();
    report(step);
  };
  const ports = readPorts();
  checkEnvironments(ports);
  await assertUsable(ports, options.inspect);
  const inspectPorts = options.inspect ? ports.inspect : undefined;
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).toReversed()) await each();
  };

  try {
    const directory = options.ephemeral
      ? await mkdtemp(join(tmpdir(), "ehr-marketplace-"))
      : resolve(root, readDataDirectory());
    if (options.ephemeral) stops.push(() => rm(directory, { recursive: true, force: true }));

    const { DATABASE_URL: givenDatabase } = process.env;
    let clusterUrl = givenDatabase;
    if (clusterUrl === undefined || clusterUrl === "") {
      beginStep("Starting PostgreSQL");
      await mkdir(directory, { recursive: true });
      // If the stack runs as root, PostgreSQL runs as another user, which needs access to the directory.
      await chmod(directory, 0o755);
      const postgres = join(directory, "postgres");
      const cluster = await startCluster({ directory: postgres, throwaway: options.ephemeral });
      stops.push(() => cluster.stop());
      clusterUrl = cluster.url;
    } else {
      report(`Using the PostgreSQL of DATABASE_URL: ${describeServer(clusterUrl)}`);
    }

    beginStep("Migrating the databases");
    const databases = await prepareDatabases(clusterUrl, options.ephemeral && givenDatabase ? `_${process.pid}` : "");
    if (options.ephemeral && givenDatabase) stops.push(() => databases.drop());

    beginStep("Loading the demo catalog");
    const [marketplaceUrl, ehrUrl, demoAppUrl] = [urlOf(ports.marketplace), urlOf(ports.ehr), urlOf(ports.demoApp)];
    const mediaDirectory = join(directory, "media");
    const demo = await loadDemoData(databases.marketplace.ownerUrl, {
      publicUrl: readPublicUrl(ports.marketplace),
      demoAppUrl,
      mediaDirectory,
      ehrUrl,
    });
    await loadSubscribers(databases.marketplace.ownerUrl, ehrUrl);
    await loadPastMonths(databases.marketplace.ownerUrl, "riverside-clinic");
    // Otherwise the worker would, in the first minutes of somebody who looks at the pages.
    await closePastMonths(databases.marketplace.ownerUrl);

    beginStep("Starting the identity provider and the demo app");
    // Named by the port, which is in the URLs of clients. The EHR's database has the clients too, and both are kept together.
    const clientsFile = join(directory, `clients-${ports.idp}.json`);
    const webUrl = urlOf(ports.web);
    const identityProvider = await startIdentityProvider({ port: ports.idp, ehrUrl, clientsFile, webUrl });
    stops.push(() => identityProvider.stop());
    const { issuer } = identityProvider;
    const demoApp = await startDemoApp(ports.demoApp, { issuer, marketplaceUrl });
    stops.push(() => demoApp.stop());

    beginStep("Starting the marketplace, its worker, the EHR and the web");
    const context = { ports, databases, identityProvider, mediaDirectory };
    const services = [
      startService({ ...marketplaceService(context), inspectPort: inspectPorts?.marketplace, signal }),
      startService({ ...workerService(context), inspectPort: inspectPorts?.worker, signal }),
      startService({ ...ehrService(context), inspectPort: inspectPorts?.ehr, signal }),
      startService({ ...webService(context), inspectPort: inspectPorts?.web, signal }),
    ];
    stops.push(async () => {
      const started = (await Promise.allSettled(services)).filter((each) => each.status === "fulfilled");
      await Promise.all(started.map(({ value }) => value.stop()));
    });
    await Promise.all(services);
    const workerUrl = urlOf(ports.workerHealth);
    return { webUrl, marketplaceUrl, workerUrl, ehrUrl, demoAppUrl, issuer, databases, demo, inspectPorts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
