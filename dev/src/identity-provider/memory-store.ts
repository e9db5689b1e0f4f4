import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";

/** Stores the provider's state in memory. The provider checks expiry itself, so the store doesn't. */
export function createMemoryStore(): AdapterFactory {
  const models = new Map<string, Map<string, AdapterPayload>>();

  return (model): Adapter => {
    const entries = models.get(model) ?? new Map<string, AdapterPayload>();
    models.set(model, entries);
    const findBy = (key: "uid" | "userCode", value: string): AdapterPayload | undefined =>
      entries.values().find((payload) => payload[key] === value);

    return {
      async upsert(id, payload) {
        entries.set(id, payload);
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
      },
      async revokeByGrantId(grantId) {
        for (const [id, payload] of entries) if (payload.grantId === grantId) entries.delete(id);
      },
    };
  };
}
