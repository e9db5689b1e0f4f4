import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { type Cacheable, createInstallationCache } from "../installations/installation-cache.ts";
import { findRegisteredClient } from "./client-store.ts";
import { isUsable } from "./connection.ts";
import { stateOf } from "./stored-client.ts";

/** A client that may have tokens, by its id at the authorization server. */
export interface UsableClient {
  appSlug: string;
  /** Null: for all organisations. */
  orgAlias: string | null;
}

export interface ClientCache {
  /** Undefined: no such client, or one that may have no tokens. */
  find(clientId: string): Promise<UsableClient | undefined>;
  /** Takes the payloads of the channel `installations_changed` that concern clients. */
  handleNotification(payload: string): void;
  connected(): void;
  disconnected(): void;
}

interface CachedClient extends Cacheable {
  client: UsableClient | undefined;
}

const prefix = "client:";
const bytesPerClient = 300;

/** Caches clients by the rules of installations: dropped on a notification, and loaded each time while the listener is disconnected. */
export function createClientCache(database: Kysely<DB>, maxBytes: number): ClientCache {
  const cache = createInstallationCache<CachedClient>({
    maxBytes,
    async load(clientId) {
      const row = await findRegisteredClient(database, clientId);
      const client = row && isUsable(stateOf(row)) ? { appSlug: row.app_slug, orgAlias: row.org_alias } : undefined;
      return { client, has: () => false, bytes: bytesPerClient };
    },
  });
  return {
    find: async (clientId) => (await cache.getCurrent(clientId)).client,
    handleNotification(payload) {
      if (payload === "") cache.handleNotification("");
      else if (payload.startsWith(prefix)) cache.drop(payload.slice(prefix.length));
    },
    connected: cache.connected,
    disconnected: cache.disconnected,
  };
}
