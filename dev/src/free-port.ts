import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Below the ports that Linux (from 32,768) and macOS (from 49,152) give to outgoing connections and to servers that listen on port 0:
// otherwise one of these may take the port before its process listens. Above those that browsers and fetch refuse, such as 10,080.
const [firstPort, lastPort] = [20_000, 32_767];

export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
      .once("error", () => resolve(false))
      .listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

/** A port that nothing listens on now. Chosen at random, so that two callers rarely get the same. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(firstPort, lastPort + 1);
    if (await isFree(port)) return port;
  }
}
