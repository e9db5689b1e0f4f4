import { type ChildProcess, fork } from "node:child_process";
import { access, copyFile, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../free-port.ts";
import { stopProcess } from "../stop-process.ts";

export interface Keycloak {
  url: string;
  /** A client of the realm `master` whose service account may do everything. */
  clientId: string;
  clientSecret: string;
  stop(): Promise<void>;
}

const version = "26.4.0";
const installed = new URL(`../../../.tools/keycloak-${version}/`, import.meta.url).pathname;
/** It takes half a minute on an idle machine, and many times that while others use it. */
const startTimeoutMs = 15 * 60_000;
const client = { clientId: "setup", clientSecret: "development-only" };

export interface KeycloakOptions {
  /** A realm that Keycloak imports when it starts, its name there, and the variables in it. */
  realm?: { file: string; name: string; variables: Record<string, string> };
}

/** Starts Keycloak in development mode on a free port of the loopback, with an empty database in memory. */
export async function startKeycloak({ realm }: KeycloakOptions = {}): Promise<Keycloak> {
  await access(join(installed, "bin/kc.sh")).catch(() => {
    throw new Error(
      `Keycloak ${version} is missing in .tools. Install Java, Maven and unzip, then run: npm run setup:keycloak`,
    );
  });
  const home = realm === undefined ? installed : await copyWithRealm(realm);
  const url = `http://127.0.0.1:${await freePort()}`;
  const options = ["start-dev", "--db=dev-mem", "--http-host=127.0.0.1", `--http-port=${new URL(url).port}`];
  if (realm !== undefined) options.push("--import-realm");
  const child = fork(join(import.meta.dirname, "keycloak.process.ts"), [home, ...options], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    execArgv: [],
    env: {
      ...process.env,
      ...realm?.variables,
      KC_BOOTSTRAP_ADMIN_CLIENT_ID: client.clientId,
      KC_BOOTSTRAP_ADMIN_CLIENT_SECRET: client.clientSecret,
      JAVA_OPTS_KC_HEAP: "-Xms64m -Xmx512m",
    },
  });
  const output = collectOutput(child);
  const stop = async (): Promise<void> => {
    await stopProcess(child);
    if (home !== installed) await rm(home, { recursive: true, force: true });
  };
  try {
    await waitUntilReady(child, url);
  } catch (error) {
    await stop();
    throw new Error(`${(error as Error).message} Its output ends with:\n${output()}`, { cause: error });
  }
  return { url, ...client, stop };
}

/** Keycloak imports what is in a folder of its own installation, if the file's name is that of its realm. */
async function copyWithRealm({ file, name }: { file: string; name: string }): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "ehr-marketplace-keycloak-"));
  await cp(installed, home, { recursive: true });
  const folder = join(home, "data/import");
  await mkdir(folder, { recursive: true });
  await copyFile(file, join(folder, `${name}-realm.json`));
  return home;
}

/** Returns a function for the last lines. */
function collectOutput(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-4_000);
    });
  }
  return () => text.trim().split("\n").slice(-15).join("\n");
}

async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error("Keycloak ended before it was ready.");
    const response = await fetch(`${url}/realms/master`).catch(() => undefined);
    if (response?.ok === true) return;
    await delay(500);
  }
  throw new Error(`Keycloak was not ready within ${startTimeoutMs / 60_000} minutes.`);
}
