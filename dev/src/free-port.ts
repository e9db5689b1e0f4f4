import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Below the ephemeral ports of Linux (from 32,768) and macOS (from 49,152), because an outgoing connection or a server on port 0 could
// take the port before its process listens. Above the ports that browsers and fetch refuse, such as 10,080.
const [firstPort, lastPort] = [20_000, 32_767];

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
      .once("error", () => resolve(false))
      .listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

/** Returns free ports in a row, chosen at random so that two callers rarely get the same. */
export async function freePorts(count: number): Promise<number[]> {
  for (;;) {
    const first = randomInt(firstPort, lastPort + 2 - count);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return ports;
  }
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
