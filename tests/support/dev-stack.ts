import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePorts } from "@ehr-marketplace/dev/free-port";
import type { CleanUp } from "@ehr-marketplace/test-kit";
import { eventually } from "@ehr-marketplace/test-kit";

export interface DevStack {
  webUrl: string;
  marketplaceUrl: string;
  ehrUrl: string;
  demoAppUrl: string;
  workerUrl: string;
  /** Environment variables with which `npm run` commands find this stack. */
  ports: { WEB_PORT: string; MARKETPLACE_PORT: string; EHR_PORT: string; IDP_PORT: string };
  /** Everything the stack has printed so far. */
  output(): string;
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

export interface DevStackOptions {
  environment?: Record<string, string>;
  /** Keeps the data in this PostgreSQL, where the stack can be started again with the same ports. */
  kept?: { databaseUrl: string; ports?: Ports | undefined };
  /** Returns when the stack prints this, by default that it is ready. */
  until?: RegExp;
  /** That of another clone of the repository. */
  directory?: string;
  /** How long it may take. */
  patienceMs?: number;
}

/** Starts `npm run dev`, on free ports and with `--ephemeral` unless its data is kept. */
export async function startDevStack(cleanUp: CleanUp, options: DevStackOptions = {}): Promise<DevStack> {
  const { environment = {}, kept, until = /^ready$/m, directory = root, patienceMs = 600_000 } = options;
  const ports = kept?.ports ?? (await findPorts());
  const { DATABASE_URL: _own, ...inherited } = process.env;
  const database = kept === undefined ? {} : { DATABASE_URL: kept.databaseUrl };
  const child = spawn("npm", ["run", "dev", "--", ...(kept === undefined ? ["--ephemeral"] : [])], {
    cwd: directory,
    env: { ...inherited, ...underLoad, ...environment, ...database, ...ports, FORCE_COLOR: "0" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const exited = once(child, "exit").then(([code]) => code as number | null);
  // Signal the process group as a terminal does, so that npm's child processes get it too.
  const signal = (name: NodeJS.Signals): void => {
    const isRunning = child.exitCode === null && child.signalCode === null;
    if (child.pid !== undefined && isRunning) process.kill(-child.pid, name);
  };
  cleanUp(async () => {
    signal("SIGTERM");
    await exited;
  });
  await eventually(`the stack prints ${until}`, patienceMs, () => until.test(output) || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(output);
  const idp = Number(ports.IDP_PORT);
  const [webUrl = "", marketplaceUrl = "", ehrUrl = "", demoAppUrl = "", workerUrl = ""] = [
    ports.WEB_PORT,
    ports.MARKETPLACE_PORT,
    ports.EHR_PORT,
    idp + 1,
    idp + 2,
  ].map((port) => `http://127.0.0.1:${port}`);
  return { webUrl, marketplaceUrl, ehrUrl, demoAppUrl, workerUrl, ports, output: () => output, signal, exited };
}
