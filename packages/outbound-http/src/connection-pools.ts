import { Pool } from "undici";
import { Connection, type ConnectionOptions, type ExchangeDispatchOptions } from "./connection.ts";
import type { Exchange } from "./exchange.ts";
import type { OutboundResponse } from "./response.ts";
import type { Target } from "./target.ts";

interface OriginPool {
  key: string;
  pool: Pool;
  requests: number;
  openSockets: number;
  idle: Set<Connection>;
}

interface ConnectionPoolsOptions extends ConnectionOptions {
  maxAgeMs: number;
  maxIdleConnections: number;
}

const neverConnect = (): never => {
  throw new Error("a pool's connections open their own sockets");
};

/**
 * An undici `Pool` for each origin and list of allowed networks, for as long as it has sockets or requests. Undici limits
 * idle connections by time and by origin; this limits them over all origins, since there are more receivers than sockets.
 */
export class ConnectionPools {
  /** The one whose connection became idle last is the last. */
  readonly #pools = new Map<string, OriginPool>();
  readonly #options: ConnectionPoolsOptions;
  #idleConnections = 0;

  constructor(options: ConnectionPoolsOptions) {
    this.#options = options;
  }

  async send(exchange: Exchange, target: Target): Promise<OutboundResponse> {
    const { headers, body, allowedNetworks } = exchange.request;
    const key = `${target.origin} ${allowedNetworks.join()}`;
    const origin = this.#pools.get(key) ?? this.#create(key, target, allowedNetworks);
    const method = body === null ? "GET" : "POST";
    const options: ExchangeDispatchOptions = { method, path: target.path, headers, body, exchange };
    origin.requests += 1;
    try {
      origin.pool.dispatch(options, exchange);
      return await exchange.response;
    } finally {
      origin.requests -= 1;
      this.#deleteIfUnused(origin);
    }
  }

  /** Closes the idle connections; requests in progress fail. */
  async destroy(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map(({ pool }) => pool.destroy()));
  }

  #create(key: string, target: Target, allowedNetworks: readonly string[]): OriginPool {
    const listener = {
      onOpen: () => {
        origin.openSockets += 1;
      },
      onIdle: (connection: Connection) => this.#addIdle(origin, connection),
      onBusy: (connection: Connection) => this.#deleteIdle(origin, connection),
      onClose: (connection: Connection) => {
        origin.openSockets -= 1;
        this.#deleteIdle(origin, connection);
        this.#deleteIfUnused(origin);
      },
    };
    const pool = new Pool(target.origin, {
      factory: () => new Connection(target, allowedNetworks, this.#options, listener),
      // Connections have their own. Without this one, undici would create a TLS session cache for each pool.
      connect: neverConnect,
      // Undici takes 0 for no limit.
      clientTtl: Math.max(this.#options.maxAgeMs, 1),
    });
    const origin: OriginPool = { key, pool, requests: 0, openSockets: 0, idle: new Set() };
    this.#pools.set(key, origin);
    return origin;
  }

  #addIdle(origin: OriginPool, connection: Connection): void {
    if (origin.idle.has(connection)) return;
    origin.idle.add(connection);
    this.#idleConnections += 1;
    this.#pools.delete(origin.key);
    this.#pools.set(origin.key, origin);
    if (this.#idleConnections > this.#options.maxIdleConnections) this.#closeLeastRecentlyUsed();
  }

  #deleteIdle(origin: OriginPool, connection: Connection): void {
    if (origin.idle.delete(connection)) this.#idleConnections -= 1;
  }

  /** Passes at most those origins that have requests in progress. */
  #closeLeastRecentlyUsed(): void {
    for (const origin of this.#pools.values()) {
      const [connection] = origin.idle;
      if (connection === undefined) continue;
      this.#deleteIdle(origin, connection);
      return connection.closeSocket();
    }
  }

  #deleteIfUnused(origin: OriginPool): void {
    if (origin.requests === 0 && origin.openSockets === 0) this.#pools.delete(origin.key);
  }
}
