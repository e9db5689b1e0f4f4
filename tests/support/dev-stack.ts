import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort, isFree } from "@ehr-marketplace/dev/free-port";
import type { CleanUp } from "./clean-up.ts";
import { eventually } from "./eventually.ts";

export interface DevStack {
  marketplaceUrl: string;
  ehrUrl: string;
  demoAppUrl: string;
  workerUrl: string;
  /** What its own commands need in their environment to find it. */
  ports: { MARKETPLACE_PORT: string; EHR_PORT: string; IDP_PORT: string };
  /** All that it printed so far. */
  printed(): string;
  signal(signal: NodeJS.Signals): void;
  ended: Promise<number | null>;
}

const root = new URL("../../", import.meta.url).pathname;

/** A port with two free ones above it, which the demo app and the worker take. */
async function threeFreePorts(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if ((await isFree(port + 1)) && (await isFree(port + 2))) return port;
  }
}

/** What a new user starts: `npm run dev -- --ephemeral`, on ports of its own. */
export async function startDevStack(cleanUp: CleanUp, more: Record<string, string> = {}): Promise<DevStack> {
  const [marketplace, ehr, idp] = [await freePort(), await freePort(), await threeFreePorts()];
  const ports = { MARKETPLACE_PORT: String(marketplace), EHR_PORT: String(ehr), IDP_PORT: String(idp) };
  const { DATABASE_URL: _own, ...environment } = process.env;
  const child = spawn("npm", ["run", "dev", "--", "--ephemeral"], {
    cwd: root,
    env: { ...environment, ...more, ...ports, FORCE_COLOR: "0" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const ended = once(child, "exit").then(([code]) => code as number | null);
  // As a terminal does: the signal goes to npm and to all that npm has started.
  const signal = (name: NodeJS.Signals): void => {
    const runs = child.exitCode === null && child.signalCode === null;
    if (child.pid !== undefined && runs) process.kill(-child.pid, name);
  };
  cleanUp(async () => {
    signal("SIGTERM");
    await ended;
  });
  await eventually("the stack prints ready", 60_000, () => /^ready$/m.test(output) || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(output);
  const [marketplaceUrl = "", ehrUrl = "", demoAppUrl = "", workerUrl = ""] = [marketplace, ehr, idp + 1, idp + 2].map(
    (port) => `http://127.0.0.1:${port}`,
  );
  return { marketplaceUrl, ehrUrl, demoAppUrl, workerUrl, ports, printed: () => output, signal, ended };
}
