import { mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memory = "/dev/shm";
const minFreeBytes = 4 * 1024 ** 3;

/**
 * Makes a folder for a cluster whose data nobody keeps: in memory if there is enough of it, because a clone of a database has a thousand
 * files, which a disk's file system needs five times as much CPU time for.
 */
export async function makeTemporaryFolder(prefix: string): Promise<string> {
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return mkdtemp(join(bavail * bsize >= minFreeBytes ? memory : tmpdir(), prefix));
}
