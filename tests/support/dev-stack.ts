import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { freePorts } from "@ehr-marketplace/dev/free-port";
import { startCluster, throwawaySettings } from "@ehr-marketplace/dev/postgres";
import { type CleanUp, eventually, getSharedPart, keepLog, urlsFor, withClient } from "@ehr-marketplace/test-kit";
import { copyData, copyMedia } from "../runner/cluster-images.ts";
import { templates } from "../runner/templates.ts";
import { moveDemoUrls } from "./move-demo-urls.ts";
import type { Stack } from "./stack.ts";
import { stopAtExit } from "./stop-at-exit.ts";

export interface DevStack extends Stack {
  /** Environment variables with which `npm run` commands find this stack. */
  ports: { WEB_PORT: string; MARKETPLACE_PORT: string; EHR_PORT: string; IDP_PORT: string };
  signal(signal: NodeJS.Signals): void;
  exited: Promise<number | null>;
}

const root = new URL("../../", import.meta.url).pathname;

/** Load from other processes on this machine must cause neither load shedding nor pages without a catalog. */
const underLoad = { MAX_EVENT_LOOP_DELAY_MS: "60000", CATALOG_TIMEOUT_MS: "60000" };

type Ports = DevStack["ports"];

/** The demo app and the worker use the two ports after that of the identity provider. */
async function findPorts(): Promise<Ports> {
  const [web, marketplace, ehr, idp] = await freePorts(6);
  return {
    WEB_PORT: String(web),
    MARKETPLACE_PORT: String(marketplace),
    EHR_PORT: String(ehr),
    IDP_PORT: String(idp),
  };
}

function urlsOf({ WEB_PORT, MARKETPLACE_PORT, EHR_PORT, IDP_PORT }: Ports) {
  const urlOf = (port: string | number): string => `http://127.0.0.1:${port}`;
  return {
    webUrl: urlOf(WEB_PORT),
    publicUrl: urlOf(MARKETPLACE_PORT),
    ehrUrl: urlOf(EHR_PORT),
    issuer: urlOf(IDP_PORT),
    demoAppUrl: urlOf(Number(IDP_PORT) + 1),
    workerUrl: urlOf(Number(IDP_PORT) + 2),
  };
}

export interface DevStackOptions {
  environment?: Record<string, string>;
  /** Data of an earlier start, with which the stack can be started again. */
  data?: StackData;
  /** Returns when the stack prints this, by default that it is ready. */
  until?: RegExp;
  /** That of another clone of the repository. */
  directory?: string;
  /** How long it may take. */
  patienceMs?: number;
}

/** What `npm run dev` has in its folder, in the databases and in them of its ports after it has been started once. */
export interface StackData {
  databaseUrl: string;
  directory: string;
  ports: Ports;
}

/** Makes the data of a stack from the templates, in half a second instead of twenty. */
export async function prepareStackData(cleanUp: CleanUp): Promise<StackData> {
  const image = await getSharedPart<string>("image/newest");
  const { directory, remove } = await copyData(image);
  cleanUp(remove);
  const cluster = await startCluster({ directory, throwaway: false, settings: throwawaySettings });
  cleanUp(() => cluster.stop());
  const media = join(dirname(directory), "media");
  await mkdir(media);
  await copyMedia(image, media);
  const ports = await findPorts();
  const names = { stack: "marketplace", ehr: "ehr", web: "web" } as const;
  for (const [template, name] of Object.entries(names)) {
    const { database } = templates[template as keyof typeof names];
    await withClient(cluster.url, (client) => client.query(`alter database ${database} rename to ${name}`));
  }
  const { ownerUrl } = urlsFor(cluster.url, names.stack, templates.stack.login);
  const { publicUrl, ehrUrl, demoAppUrl } = urlsOf(ports);
  await moveDemoUrls(ownerUrl, { publicUrl, ehrUrl, demoAppUrl });
  return { databaseUrl: cluster.url, directory: dirname(directory), ports };
}

/** Starts `npm run dev`: with the data of an earlier start, or on free ports and with `--ephemeral`. */
export async function startDevStack(cleanUp: CleanUp, options: DevStackOptions = {}): Promise<DevStack> {
  const { environment = {}, data, until = /^ready$/m, directory = root, patienceMs = 600_000 } = options;
  const ports = data?.ports ?? (await findPorts());
  const { DATABASE_URL: _own, ...inherited } = process.env;
  const database = data === undefined ? {} : { DATABASE_URL: data.databaseUrl, DATA_DIRECTORY: data.directory };
  const child = spawn("npm", ["run", "dev", "--", ...(data === undefined ? ["--ephemeral"] : [])], {
    cwd: directory,
    env: { ...inherited, ...underLoad, ...environment, ...database, ...ports, FORCE_COLOR: "0" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const log = keepLog("npm run dev");
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
    log(chunk.toString());
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const exited = once(child, "exit").then(([code]) => code as number | null);
  // Signal the process group as a terminal does, so that npm's child processes get it too.
  const signal = (name: NodeJS.Signals): void => {
    const isRunning = child.exitCode === null && child.signalCode === null;
    if (child.pid !== undefined && isRunning) process.kill(-child.pid, name);
  };
  const stop = (): void => signal("SIGTERM");
  const forget = stopAtExit(stop);
  cleanUp(async () => {
    stop();
    await exited;
    forget();
  });
  await eventually(`the stack prints ${until}`, patienceMs, () => until.test(output) || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(output);
  const { publicUrl: marketplaceUrl, ...urls } = urlsOf(ports);
  return { ...urls, marketplaceUrl, ports, output: () => output, signal, exited };
}
