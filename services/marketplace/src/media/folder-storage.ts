import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { assertKey, type MediaStorage } from "./media-storage.ts";

/** Waits until the names in a folder survive a power failure. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Media in a folder. Several processes may use the same one, also over a network file system. */
export function createFolderStorage(directory: string): MediaStorage {
  const objects = join(directory, "objects");
  // Each object has a folder of its own, so that deleting it also deletes what a process left that died while it wrote.
  const folderOf = (key: string): string => {
    assertKey(key);
    return join(objects, key);
  };
  return {
    async put(key, { bytes }) {
      const folder = folderOf(key);
      await mkdir(folder, { recursive: true, mode: 0o750 });
      const temporary = join(folder, randomUUID());
      const handle = await open(temporary, "wx", 0o640);
      try {
        await handle.writeFile(bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, join(folder, "content"));
      await syncFolder(folder);
      await syncFolder(objects);
    },
    async read(key) {
      try {
        return (await open(join(folderOf(key), "content"), "r")).createReadStream();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    delete: (key) => rm(folderOf(key), { recursive: true, force: true }),
    stop() {},
  };
}
