import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";

type Entries = Map<string, AdapterPayload>;

/** What an EHR refers to in its own database. Everything else ends with the process: sessions, codes and tokens. */
const keptModels = new Set(["Client", "RegistrationAccessToken"]);

function readEntries(file: string | undefined): Map<string, Entries> {
  if (file === undefined || !existsSync(file)) return new Map();
  const kept = JSON.parse(readFileSync(file, "utf8")) as Record<string, Record<string, AdapterPayload>>;
  return new Map(Object.entries(kept).map(([model, entries]) => [model, new Map(Object.entries(entries))]));
}

function writeEntries(file: string, models: Map<string, Entries>): void {
  const kept = [...models].filter(([model]) => keptModels.has(model));
  const text = JSON.stringify(Object.fromEntries(kept.map(([model, entries]) => [model, Object.fromEntries(entries)])));
  // Renamed when it is complete: the process may be killed at any time.
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/**
 * Stores the provider's state in memory, and its registered clients also in a file if one is given. The provider checks expiry itself,
 * so the store doesn't.
 */
export function createMemoryStore(clientsFile?: string): AdapterFactory {
  const models = readEntries(clientsFile);

  return (model): Adapter => {
    const entries: Entries = models.get(model) ?? new Map();
    models.set(model, entries);
    const findBy = (key: "uid" | "userCode", value: string): AdapterPayload | undefined =>
      entries.values().find((payload) => payload[key] === value);
    const save = (): void => {
      if (clientsFile !== undefined && keptModels.has(model)) writeEntries(clientsFile, models);
    };

    return {
      async upsert(id, payload) {
        entries.set(id, payload);
        save();
      },
      find: async (id) => entries.get(id),
      findByUid: async (uid) => findBy("uid", uid),
      findByUserCode: async (userCode) => findBy("userCode", userCode),
      async consume(id) {
        const payload = entries.get(id);
        if (payload !== undefined) entries.set(id, { ...payload, consumed: Math.floor(Date.now() / 1000) });
      },
      async destroy(id) {
        entries.delete(id);
        save();
      },
      async revokeByGrantId(grantId) {
        for (const [id, payload] of entries) if (payload.grantId === grantId) entries.delete(id);
      },
    };
  };
}
