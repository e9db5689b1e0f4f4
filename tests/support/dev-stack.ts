import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort, isFree } from "@ehr-marketplace/dev/free-port";
import type { CleanUp } from "@ehr-marketplace/test-kit";
import { eventually } from "@ehr-marketplace/test-kit";

export interface DevStack {
  marketplaceUrl: string;
  ehrUrl: string;
  demoAppUrl: string;
  workerUrl: string;
  /** Environment variables with which `npm run` commands find this stack. */
  ports: { MARKETPLACE_PORT: string; EHR_PORT: string; IDP_PORT: string };
  /** Everything the stack has printed so far. */
  output(): string;
  signal(signal: NodeJS.Signals): void;
  exited: Promise<number | null>;
}

const root = new URL("../../", import.meta.url).pathname;

/** Finds a port followed by two free ones, which the demo app and the worker use. */
async function findThreeFreePorts(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if ((await isFree(port + 1)) && (await isFree(port + 2))) return port;
  }
}

/** Starts `npm run dev -- --ephemeral` on free ports. */
export async function startDevStack(
  cleanUp: CleanUp,
  extraEnvironment: Record<string, string> = {},
): Promise<DevStack> {
  const [marketplace, ehr, idp] = [await freePort(), await freePort(), await findThreeFreePorts()];
  const ports = { MARKETPLACE_PORT: String(marketplace), EHR_PORT: String(ehr), IDP_PORT: String(idp) };
  const { DATABASE_URL: _own, ...environment } = process.env;
  const child = spawn("npm", ["run", "dev", "--", "--ephemeral"], {
    cwd: root,
    env: { ...environment, ...extraEnvironment, ...ports, FORCE_COLOR: "0" },
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
  await eventually("the stack prints ready", 60_000, () => /^ready$/m.test(output) || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(output);
  const [marketplaceUrl = "", ehrUrl = "", demoAppUrl = "", workerUrl = ""] = [marketplace, ehr, idp + 1, idp + 2].map(
    (port) => `http://127.0.0.1:${port}`,
  );
  return { marketplaceUrl, ehrUrl, demoAppUrl, workerUrl, ports, output: () => output, signal, exited };
}
