import { LRUCache } from "lru-cache";

/** What is kept of one organisation. */
export interface Keepable {
  /** Of its apps: it is dropped when one of them changes. */
  has(appSlug: string): boolean;
  bytes: number;
}

export interface InstallationCache<T extends Keepable> {
  /** At once where it is kept; callers who come while it is being loaded share one load. */
  get(orgAlias: string): T | Promise<T>;
  drop(orgAlias: string): void;
  /** What the channel `installations_changed` says: an alias, `app:` and a slug, or nothing, which means everything. */
  hear: (payload: string) => void;
  connected: () => void;
  disconnected: () => void;
}

/** Changes are heard of, so that this is only for what was changed behind the triggers' back. */
const lifetimeMs = 3_600_000;
/**
 * While nobody hears of changes, what is kept serves on for so long, and what is loaded then likewise: an EHR's pages outlive a database
 * that restarts, and nobody sees for longer than this what has been cancelled.
 */
const lifetimeUnheardMs = 60_000;

interface Entry<T> {
  value: T;
  loadedAt: number;
}

/**
 * Per organisation, what was loaded of its installations. A load that began before a drop answers those who wait for it, and is
 * not kept. That is why loads are kept apart here: the library's own would be put back after a `delete` or be failed by it.
 */
export function createInstallationCache<T extends Keepable>(options: {
  maxBytes: number;
  load: (orgAlias: string) => Promise<T>;
  now?: () => number;
}): InstallationCache<T> {
  const { load, now = () => performance.now() } = options;
  const entries = new LRUCache<string, Entry<T>>({
    maxSize: options.maxBytes,
    sizeCalculation: ({ value }, alias) => value.bytes + alias.length + 300,
  });
  const loads = new Map<string, Promise<T>>();
  let deafSince: number | undefined = now();

  const startLoad = (orgAlias: string): Promise<T> => {
    const loading = load(orgAlias)
      .then((value) => {
        if (loads.get(orgAlias) === loading) entries.set(orgAlias, { value, loadedAt: now() });
        return value;
      })
      .finally(() => {
        if (loads.get(orgAlias) === loading) loads.delete(orgAlias);
      });
    loads.set(orgAlias, loading);
    return loading;
  };
  const isTooOld = ({ loadedAt }: Entry<T>): boolean =>
    deafSince === undefined
      ? now() - loadedAt >= lifetimeMs
      : now() - Math.max(deafSince, loadedAt) >= lifetimeUnheardMs;
  const dropAll = (): void => {
    entries.clear();
    loads.clear();
  };
  const drop = (orgAlias: string): void => {
    entries.delete(orgAlias);
    loads.delete(orgAlias);
  };

  return {
    get(orgAlias) {
      const entry = entries.get(orgAlias);
      if (entry !== undefined && !isTooOld(entry)) return entry.value;
      return loads.get(orgAlias) ?? startLoad(orgAlias);
    },
    drop,
    hear(payload) {
      if (payload === "") dropAll();
      else if (!payload.startsWith("app:")) drop(payload);
      else {
        const slug = payload.slice("app:".length);
        for (const [alias, { value }] of entries.entries()) if (value.has(slug)) entries.delete(alias);
        // Nobody knows yet what is in them.
        loads.clear();
      }
    },
    connected() {
      deafSince = undefined;
      dropAll();
    },
    disconnected() {
      deafSince = now();
    },
  };
}
