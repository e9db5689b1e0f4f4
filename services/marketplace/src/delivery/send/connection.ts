import type { Socket } from "node:net";
import { Client } from "undici";
import { Failure, failureFrom } from "./failure.ts";

/** One socket to one receiver, with one request at a time. */
export interface Connection {
  /** Requests with the same key may share it, one after the other. */
  key: string;
  client: Client;
  socket: Socket;
  openedAt: number;
  /** How many bytes may have come in since it was opened; then `onTooMuch` is called. */
  readLimit: number;
  onTooMuch: () => void;
  onClose: () => void;
}

export function createConnection(socket: Socket, origin: string, key: string, idleMs: number): Connection {
  let handedOver = false;
  const client = new Client(origin, {
    // Undici would replace a lost socket by itself; here a new one needs a new look at the addresses.
    connect: (_options, callback) => {
      const lost = handedOver;
      handedOver = true;
      queueMicrotask(() => {
        if (!lost) return callback(null, socket);
        callback(
          socket.errored ? failureFrom(socket.errored, "connection-closed") : new Failure("connection-closed"),
          null,
        );
      });
    },
    pipelining: 1,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    keepAliveTimeoutThreshold: 1_000,
    // Out of reach: `readLimit` comes first. At its own limit undici makes an error of each further header, thousands
    // of them from one packet, and the receiver has bought much of our time with little of its own.
    maxHeaderSize: 1_048_576,
    // The attempt's own deadline covers these; undici's are renewed with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const connection: Connection = {
    key,
    client,
    socket,
    openedAt: performance.now(),
    readLimit: Number.POSITIVE_INFINITY,
    onTooMuch: () => {},
    onClose: () => {},
  };
  // The parser tells of headers and body only. Endless chunk extensions, say, would go unnoticed.
  socket.on("readable", () => {
    if (socket.bytesRead > connection.readLimit) connection.onTooMuch();
  });
  socket.once("close", () => connection.onClose());
  return connection;
}

/** Made once: undici would make one for each connection, and that takes longer than to close it. */
const dropped = new Failure("connection-closed");

/** Takes effect at once, whatever the connection is doing. */
export function dropConnection(connection: Connection): void {
  void connection.client.destroy(dropped);
  // The client knows its socket only once a request has gone out.
  connection.socket.destroy();
}
