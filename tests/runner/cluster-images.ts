// Clusters of PostgreSQL with migrated templates, kept in node_modules/.cache. A run starts copies of them, which takes half a second
// instead of twenty, and makes one only if what it was made from has changed.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, glob, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  makeTemporaryFolder,
  startCluster,
  startDebianCluster,
  throwawaySettings,
} from "@ehr-marketplace/dev/postgres";
import type { TemplateName } from "@ehr-marketplace/test-kit";
import { createImportGraph } from "./import-graph.ts";
import type { PostgresVersion } from "./tiers.ts";

const cache = new URL("../../node_modules/.cache/clusters/", import.meta.url).pathname;
const copy = (from: string, to: string): Promise<unknown> => promisify(execFile)("cp", ["-a", from, to]);
const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

export interface RunningCluster {
  url: string;
  stop: () => Promise<unknown>;
}

/** Starts PostgreSQL in the folder, and initialises it if it is empty. */
const start: Record<PostgresVersion, (directory: string) => Promise<RunningCluster>> = {
  newest: (directory) => startCluster({ directory, throwaway: false, settings: throwawaySettings }),
  oldest: (directory) => startDebianCluster({ directory }),
};

/** No local stack runs on the oldest version. */
const names: Record<PostgresVersion, TemplateName[]> = {
  newest: ["empty", "demo", "stack", "ehr", "web"],
  oldest: ["empty", "demo", "ehr", "web"],
};

/** A hash of the migrations, of the demo data, of the code that loads it, and of the day, because data and partitions begin with it. */
async function hashInputs(): Promise<string> {
  const graph = createImportGraph();
  const code = graph.filesOf("tests/runner/prepare-templates.ts");
  const others = await Array.fromAsync(
    glob(["services/*/migrations/*.sql", "dev/src/demo-data/pictures/*", "package-lock.json"]),
  );
  const hash = createHash("sha256").update(new Date().toISOString().slice(0, 10));
  for (const file of [...code, ...others].toSorted()) {
    if ((await stat(file)).isFile()) hash.update(`${file}\0`).update(await readFile(file));
  }
  return hash.digest("hex").slice(0, 16);
}

async function makeImage(version: PostgresVersion, target: string): Promise<void> {
  const { prepareTemplates } = await import("./prepare-templates.ts");
  const folder = await makeTemporaryFolder("ehr-marketplace-image-");
  await chmod(folder, 0o755);
  const data = join(folder, "data");
  await mkdir(cache, { recursive: true });
  const copied = await mkdtemp(join(cache, "new-"));
  try {
    const cluster = await start[version](data);
    try {
      await prepareTemplates(cluster.url, names[version], join(folder, "media"));
    } finally {
      await cluster.stop();
    }
    await copy(`${folder}/.`, copied);
  } catch (error) {
    await rm(copied, { recursive: true });
    throw error;
  } finally {
    await rm(folder, { recursive: true });
  }
  // Another run may have made the same image.
  await rename(copied, target).catch(() => rm(copied, { recursive: true }));
}

/** A run that uses the image of other sources has copied it by then. */
const isOld = async (image: string): Promise<boolean> =>
  Date.now() - (await stat(image).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs > 3_600_000;

/** Returns the folder of the image: a data directory, and the files of the demo apps. Deletes old ones of other sources. */
export async function findImage(version: PostgresVersion): Promise<string> {
  const image = join(cache, `${version}-${await hashInputs()}`);
  if (await exists(image)) return image;
  for (const other of await readdir(cache).catch(() => [])) {
    const path = join(cache, other);
    if (await isOld(path)) await rm(path, { recursive: true, force: true });
  }
  await makeImage(version, image);
  return image;
}

/** Copies an image's data directory, and returns where it is now. */
export async function copyData(image: string): Promise<{ directory: string; remove: () => Promise<void> }> {
  const folder = await makeTemporaryFolder("ehr-marketplace-tests-");
  // PostgreSQL runs as another user if this process runs as root.
  await chmod(folder, 0o755);
  await copy(join(image, "data"), folder);
  return { directory: join(folder, "data"), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Starts a copy of the image. */
export async function startImage(version: PostgresVersion, image: string): Promise<RunningCluster> {
  const { directory, remove } = await copyData(image);
  const cluster = await start[version](directory);
  return {
    url: cluster.url,
    async stop() {
      await cluster.stop();
      await remove();
    },
  };
}

export const copyMedia = (image: string, folder: string): Promise<unknown> => copy(`${join(image, "media")}/.`, folder);
