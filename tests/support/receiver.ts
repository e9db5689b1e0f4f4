import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { SubscriptionEvent } from "@ehr-marketplace/contracts";
import type { CleanUp } from "@ehr-marketplace/test-kit";

export interface Received {
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
  at: number;
  event: SubscriptionEvent;
}

export interface Receiver {
  url: string;
  port: number;
  /** All requests, in order of arrival. */
  received: Received[];
  /** Responds to the following requests; the default is 204. */
  respond: (received: Received, response: ServerResponse) => void;
  stop(): Promise<void>;
}

/** Starts an HTTP server on a loopback address that keeps every request. */
export async function startReceiver(
  cleanUp: CleanUp,
  port = 0,
  address: "127.0.0.1" | "::1" = "127.0.0.1",
): Promise<Receiver> {
  const receiver: Receiver = {
    url: "",
    port: 0,
    received: [],
    respond: (_received, response) => response.writeHead(204).end(),
    async stop() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const event = JSON.parse(body) as SubscriptionEvent;
      const received = { path: request.url ?? "", headers: request.headers, body, at: performance.now(), event };
      receiver.received.push(received);
      receiver.respond(received, response);
    });
  }).listen(port, address);
  await once(server, "listening");
  receiver.port = (server.address() as AddressInfo).port;
  receiver.url = `http://${address === "::1" ? "[::1]" : address}:${receiver.port}`;
  cleanUp(() => receiver.stop());
  return receiver;
}
