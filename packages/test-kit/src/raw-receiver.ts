import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

type CleanUp = (undo: () => Promise<unknown>) => void;

export interface Receiver {
  port: number;
  url: string;
  /** Each connection that was ever accepted. */
  connections: Socket[];
  open(): number;
}

/** Listens on loopback, and does with each connection whatever the test says. */
export async function startReceiver(
  cleanUp: CleanUp,
  behave: (socket: Socket) => void,
  options: { tls?: TlsOptions; host?: string; port?: number } = {},
): Promise<Receiver> {
  const { tls, host = "127.0.0.1", port = 0 } = options;
  const connections: Socket[] = [];
  const server: Server = tls === undefined ? createTcpServer() : createTlsServer(tls);
  server.on("connection", (socket: Socket) => {
    connections.push(socket);
    socket.on("error", () => {});
  });
  server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    socket.on("error", () => {});
    behave(socket);
  });
  server.on("tlsClientError", () => {});
  server.listen(port, host);
  await once(server, "listening");
  cleanUp(async () => {
    for (const socket of connections) socket.destroy();
    server.close();
    await once(server, "close");
  });
  const at = server.address() as AddressInfo;
  return {
    port: at.port,
    url: `${tls === undefined ? "http" : "https"}://${host}:${at.port}/hooks`,
    connections,
    open: () => connections.filter((socket) => !socket.destroyed).length,
  };
}

/** Calls back with each whole request; as in these tests, each has a JSON object for a body. */
export function onRequest(socket: Socket, respond: (request: string) => void): void {
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    const [head = "", body] = text.split("\r\n\r\n");
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.NaN);
    if (body === undefined || Buffer.byteLength(body) < length) return;
    const request = text;
    text = "";
    respond(request);
  });
}

/** Writes the same until the other side is gone, as fast as it is read. */
export function pour(socket: Socket, what: string | Buffer): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(what));
  };
  socket.on("drain", more);
  more();
}

/** Writes one byte at a time, so slowly that it never ends within a test's patience. */
export function drip(socket: Socket, text: string): void {
  let next = 0;
  const timer = setInterval(() => socket.write(text[next++ % text.length] ?? ""), 20);
  socket.on("close", () => clearInterval(timer));
}

export const ok = (body = '{"received":true}', headers = ""): string =>
  `HTTP/1.1 200 OK\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
