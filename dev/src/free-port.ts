import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { createServer } from "node:net";

// Below the ephemeral ports of Linux (from 32,768) and macOS (from 49,152), because an outgoing connection or a server on port 0 could
// take the port before its process listens. Above the ports that browsers and fetch refuse, such as 10,080.
const [firstPort, lastPort] = [20_000, 32_767];

/**
 * Keeps other callers, also in other processes, from getting the same port before a server listens on it: a UDP socket on that port, which
 * nothing sends to. The operating system closes it when this process ends.
 */
const reserve = (port: number): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const socket = createSocket("udp4").unref();
    socket.once("error", () => socket.close(() => resolve(undefined)));
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => resolve(socket));
  });

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
      .once("error", () => resolve(false))
      .listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

/** Returns free ports in a row, which no other caller gets while this process runs. */
export async function freePorts(count: number): Promise<number[]> {
  for (;;) {
    const first = randomInt(firstPort, lastPort + 2 - count);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    const reserved = await Promise.all(ports.map(reserve));
    if (!reserved.includes(undefined) && (await Promise.all(ports.map(isFree))).every(Boolean)) return ports;
    for (const socket of reserved) socket?.close();
  }
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
