import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../free-port.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";
import { throwawaySettings } from "./throwaway-settings.ts";

const run = promisify(execFile);
const binaries = "/usr/lib/postgresql/15/bin";

export interface DebianCluster {
  url: string;
  port: number;
  /** Runs a program of this version as the user of the server. */
  run(program: string, ...args: string[]): Promise<unknown>;
  stop(): Promise<void>;
}

/** Runs pg_dump of this version, which dumps no newer database. */
export async function dumpDatabase(url: string, ...options: string[]): Promise<string> {
  const { stdout } = await run(join(binaries, "pg_dump"), [...options, url], { maxBuffer: 64 * 1_048_576 });
  return stdout;
}

/** PostgreSQL refuses to run as root; Debian's package creates a user for it. */
async function findServerUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all([run("id", ["-u", "postgres"]), run("id", ["-g", "postgres"])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/** Starts PostgreSQL 15, the oldest supported major version: in a folder that is kept, or in one that is deleted when it stops. */
export async function startDebianCluster(
  options: { directory?: string; port?: number; settings?: Record<string, string> } = {},
): Promise<DebianCluster> {
  if (!existsSync(join(binaries, "pg_ctl"))) {
    throw new Error("PostgreSQL 15 is required. Install it: apt-get install postgresql-15");
  }
  const user = await findServerUser();
  const directory = options.directory ?? (await makeTemporaryFolder("ehr-marketplace-15-"));
  await mkdir(directory, { recursive: true });
  if (user !== undefined) await chown(directory, user.uid, user.gid);
  const runHere = (program: string, ...given: string[]): Promise<unknown> =>
    run(join(binaries, program), given, { ...user, cwd: directory });
  const port = options.port ?? (await freePort());
  const settings = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    "unix_socket_directories=",
    "max_connections=200",
    ...Object.entries({ ...throwawaySettings, ...options.settings }).map(([name, value]) => `${name}=${value}`),
  ];
  if (!existsSync(join(directory, "PG_VERSION"))) {
    await runHere("initdb", "-D", directory, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C");
  }
  const flags = settings.map((setting) => `-c ${setting}`).join(" ");
  await runHere("pg_ctl", "-D", directory, "-w", "-l", join(directory, "server.log"), "-o", flags, "start");
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    run: runHere,
    async stop() {
      await runHere("pg_ctl", "-D", directory, "-m", options.directory === undefined ? "immediate" : "fast", "stop");
      if (options.directory === undefined) await rm(directory, { recursive: true });
    },
  };
}
