import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { CleanUp } from "./clean-up.ts";

/**
 * reset: existing and new connections are reset.
 * delay: no byte passes; bytes sent meanwhile arrive after `restore`.
 * drop: no byte passes, and connections of that time never recover, as when a firewall has dropped their state.
 */
export type NetworkFault = "reset" | "delay" | "drop";

export interface NetworkFaultProxy {
  /** The same database, through the proxy. */
  url: string;
  interrupt(fault: NetworkFault): void;
  /** Ends the fault. */
  restore(): void;
  /** Sends new connections to another server, as a changed DNS record does; open ones stay. */
  redirect(databaseUrl: string): void;
}

interface ConnectionPair {
  client: Socket;
  database: Socket;
  isPaused: boolean;
}

function resetSocket(socket: Socket): void {
  // A socket that has sent FIN can't be reset, and would stay open.
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** Starts a TCP proxy between one process and PostgreSQL, with which a test can interrupt their connections. */
export async function startNetworkFaultProxy(cleanUp: CleanUp, databaseUrl: string): Promise<NetworkFaultProxy> {
  let target = new URL(databaseUrl);
  const pairs = new Set<ConnectionPair>();
  let fault: NetworkFault | undefined;

  const connectPair = (pair: ConnectionPair): void => {
    pair.isPaused = false;
    const { client, database } = pair;
    client.pipe(database);
    database.pipe(client);
    if (client.destroyed || database.destroyed) resetPair(pair);
  };
  const pausePair = (pair: ConnectionPair): void => {
    pair.isPaused = true;
    for (const [from, to] of [
      [pair.client, pair.database],
      [pair.database, pair.client],
    ] as const) {
      from.unpipe(to);
      from.pause();
    }
  };
  const resetPair = (pair: ConnectionPair): void => {
    pairs.delete(pair);
    resetSocket(pair.client);
    resetSocket(pair.database);
  };

  const server = createServer((client) => {
    client.on("error", () => undefined);
    if (fault === "reset") {
      client.resetAndDestroy();
      return;
    }
    const database = connect(Number(target.port), target.hostname);
    database.on("error", () => undefined);
    const pair: ConnectionPair = { client, database, isPaused: false };
    pairs.add(pair);
    // During a fault, a close of one end isn't forwarded to the other.
    for (const socket of [client, database]) socket.on("close", () => pair.isPaused || resetPair(pair));
    if (fault === undefined) connectPair(pair);
    else pausePair(pair);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    const closed = once(server, "close");
    server.close();
    for (const pair of pairs) resetPair(pair);
    await closed;
  });

  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    interrupt(newFault) {
      fault = newFault;
      for (const pair of pairs) {
        if (newFault === "reset") resetPair(pair);
        else pausePair(pair);
      }
    },
    restore() {
      if (fault === "delay") for (const pair of pairs) connectPair(pair);
      fault = undefined;
    },
    redirect(newUrl) {
      target = new URL(newUrl);
    },
  };
}
