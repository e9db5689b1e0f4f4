import { LRUCache } from "lru-cache";

/** The cached value of one organisation. */
export interface Cacheable {
  /** Whether the organisation has the app: the value is dropped when one of its apps changes. */
  has(appSlug: string): boolean;
  bytes: number;
}

export interface InstallationCache<T extends Cacheable> {
  /** Concurrent callers share one load. */
  get(orgAlias: string): Promise<T>;
  /** The same, but no value that may have changed unnoticed: while the listener is disconnected, each is loaded. */
  getCurrent(orgAlias: string): Promise<T>;
  drop(orgAlias: string): void;
  /** Takes a payload of the channel `installations_changed`: an alias, `app:` and a slug, or an empty text, which drops everything. */
  handleNotification: (payload: string) => void;
  connected: () => void;
  disconnected: () => void;
}

/** Triggers notify of changes, so this limit matters only for changes made with triggers disabled. */
const lifetimeMs = 3_600_000;
/**
 * While the listener is disconnected, values are served for this long: an EHR's pages survive a restart of the database, and a cancelled
 * installation isn't shown for longer than this.
 */
const disconnectedLifetimeMs = 60_000;

interface Entry<T> {
  value: T;
  loadedAt: number;
}

/**
 * Caches the installations of each organisation. A load that began before a drop resolves for its waiting callers, but isn't cached. Loads are
 * therefore tracked here: the library's `fetch` would store the value after a `delete`, or reject because of it.
 */
export function createInstallationCache<T extends Cacheable>(options: {
  maxBytes: number;
  load: (orgAlias: string) => Promise<T>;
  now?: () => number;
}): InstallationCache<T> {
  const { now = () => performance.now() } = options;
  const entries = new LRUCache<string, Entry<T>>({
    maxSize: options.maxBytes,
    sizeCalculation: ({ value }, alias) => value.bytes + alias.length + 300,
  });
  const loads = new Map<string, Promise<T>>();
  let disconnectedSince: number | undefined = now();

  const startLoad = (orgAlias: string): Promise<T> => {
    const loading = options
      .load(orgAlias)
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
    disconnectedSince === undefined
      ? now() - loadedAt >= lifetimeMs
      : now() - Math.max(disconnectedSince, loadedAt) >= disconnectedLifetimeMs;
  const dropAll = (): void => {
    entries.clear();
    loads.clear();
  };
  const drop = (orgAlias: string): void => {
    entries.delete(orgAlias);
    loads.delete(orgAlias);
  };

  const load = (orgAlias: string): Promise<T> => loads.get(orgAlias) ?? startLoad(orgAlias);
  const get = async (orgAlias: string): Promise<T> => {
    const entry = entries.get(orgAlias);
    return entry !== undefined && !isTooOld(entry) ? entry.value : load(orgAlias);
  };

  return {
    get,
    getCurrent: (orgAlias) => (disconnectedSince === undefined ? get(orgAlias) : load(orgAlias)),
    drop,
    handleNotification(payload) {
      if (payload === "") dropAll();
      else if (!payload.startsWith("app:")) drop(payload);
      else {
        const slug = payload.slice("app:".length);
        for (const [alias, { value }] of entries.entries()) if (value.has(slug)) entries.delete(alias);
        // The apps of loads in progress aren't known yet.
        loads.clear();
      }
    },
    connected() {
      disconnectedSince = undefined;
      dropAll();
    },
    disconnected() {
      disconnectedSince = now();
    },
  };
}
