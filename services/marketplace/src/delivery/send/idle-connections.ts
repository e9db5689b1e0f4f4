import { type Connection, dropConnection } from "./connection.ts";

/**
 * Connections that wait for their receiver's next request. There are many more receivers than sockets: when too many
 * wait, those go first whose receiver was not sent anything for the longest time.
 */
export class IdleConnections {
  /** The key that was used last is the last one. No key is without connections. */
  readonly #byKey = new Map<string, Connection[]>();
  readonly #most: number;
  readonly #maxAgeMs: number;
  #count = 0;

  constructor(options: { maxConnections: number; maxAgeMs: number }) {
    this.#most = options.maxConnections;
    this.#maxAgeMs = options.maxAgeMs;
  }

  keep(connection: Connection): void {
    if (!this.#isUsable(connection)) return dropConnection(connection);
    const { key } = connection;
    const kept = this.#byKey.get(key) ?? [];
    this.#byKey.delete(key);
    this.#byKey.set(key, kept);
    kept.push(connection);
    this.#count += 1;
    connection.onTooMuch = () => dropConnection(connection);
    connection.onClose = () => this.#forget(connection);
    if (this.#count > this.#most) this.#dropOldest();
  }

  /** The one that was used last, so that the others can grow old. */
  take(key: string): Connection | undefined {
    const connection = this.#byKey.get(key)?.at(-1);
    if (connection === undefined) return undefined;
    this.#forget(connection);
    if (this.#isUsable(connection)) return connection;
    dropConnection(connection);
    return this.take(key);
  }

  dropAll(): void {
    this.#byKey.values().forEach((kept) => kept.forEach(dropConnection));
  }

  #isUsable({ socket, openedAt }: Connection): boolean {
    // What is still unsent belongs to a request that was answered before it was read.
    return !socket.destroyed && socket.writableLength === 0 && performance.now() - openedAt < this.#maxAgeMs;
  }

  #dropOldest(): void {
    const [kept] = this.#byKey.values();
    const [oldest] = kept ?? [];
    if (oldest === undefined) return;
    this.#forget(oldest);
    dropConnection(oldest);
  }

  #forget(connection: Connection): void {
    connection.onClose = () => {};
    const kept = this.#byKey.get(connection.key);
    const index = kept?.lastIndexOf(connection) ?? -1;
    if (kept === undefined || index === -1) return;
    kept.splice(index, 1);
    this.#count -= 1;
    if (kept.length === 0) this.#byKey.delete(connection.key);
  }
}
