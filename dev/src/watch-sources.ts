import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { join } from "node:path";

/** One save or checkout causes several events. */
const settleMs = 100;
const source = /\.(tsx?|js|json|sql|css)$/;

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

export interface SourceWatcher {
  /** Resolves to the path of the next file or folder that changes. */
  nextChange(): Promise<string>;
}

/**
 * Notices source files that are written, added, removed or replaced, also in folders that are added later. It watches folders, because a
 * watcher of a file (as `node --watch` uses on Linux) sees nothing after an editor or git has replaced the file.
 */
export function watchSources(roots: string[], isIgnored: (path: string) => boolean): SourceWatcher {
  const watchers = new Map<string, FSWatcher>();
  let next = Promise.withResolvers<string>();
  let settled: NodeJS.Timeout | undefined;

  const onEvent = (path: string): void => {
    const isNewFolder = isFolder(path);
    if (isNewFolder) watchFolder(path);
    if (!isNewFolder && (!source.test(path) || isIgnored(path))) return;
    clearTimeout(settled);
    settled = setTimeout(() => next.resolve(path), settleMs);
  };
  const watchFolder = (folder: string): void => {
    // A folder that was removed and added again needs another watcher.
    watchers.get(folder)?.close();
    try {
      const watcher = watch(folder, (_event, name) => onEvent(join(folder, name ?? "")));
      watcher.on("error", () => watcher.close());
      watchers.set(folder, watcher);
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        if (entry.isDirectory() && entry.name !== "node_modules") watchFolder(join(folder, entry.name));
      }
    } catch (error) {
      // Removed meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  };
  for (const root of roots) watchFolder(root);

  return {
    nextChange() {
      next = Promise.withResolvers();
      return next.promise;
    },
  };
}
