import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { CleanUp } from "./clean-up.ts";

/**
 * reset: every connection breaks, and new ones do. held back: no byte passes; those that were sent meanwhile arrive late.
 * swallowed: no byte passes, and connections of that time never speak again, as when a firewall has forgotten them.
 */
export type Cut = "reset" | "held back" | "swallowed";

export interface SeveredProxy {
  /** The same database, through the proxy. */
  url: string;
  cut(how: Cut): void;
  /** Lets bytes pass again. */
  join(): void;
}

interface Pair {
  near: Socket;
  far: Socket;
  held: boolean;
}

function reset(socket: Socket): void {
  // One that has said goodbye can't be reset any more, and would stay open for ever.
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** Stands between one process and PostgreSQL, so that a test can cut the two off from each other. */
export async function startSeveredProxy(cleanUp: CleanUp, databaseUrl: string): Promise<SeveredProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const pairs = new Set<Pair>();
  let cutOff: Cut | undefined;

  const flow = (pair: Pair): void => {
    pair.held = false;
    const { near, far } = pair;
    near.pipe(far);
    far.pipe(near);
    if (near.destroyed || far.destroyed) end(pair);
  };
  const hold = (pair: Pair): void => {
    pair.held = true;
    for (const [from, to] of [
      [pair.near, pair.far],
      [pair.far, pair.near],
    ] as const) {
      from.unpipe(to);
      from.pause();
    }
  };
  const end = (pair: Pair): void => {
    pairs.delete(pair);
    reset(pair.near);
    reset(pair.far);
  };

  const server = createServer((near) => {
    near.on("error", () => undefined);
    if (cutOff === "reset") {
      near.resetAndDestroy();
      return;
    }
    const far = connect(Number(port), hostname);
    far.on("error", () => undefined);
    const pair = { near, far, held: false };
    pairs.add(pair);
    // While they are cut off, neither end hears that the other has gone.
    for (const socket of [near, far]) socket.on("close", () => pair.held || end(pair));
    if (cutOff === undefined) flow(pair);
    else hold(pair);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    const closed = once(server, "close");
    server.close();
    for (const pair of pairs) end(pair);
    await closed;
  });

  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cut(how) {
      cutOff = how;
      for (const pair of pairs) {
        if (how === "reset") end(pair);
        else hold(pair);
      }
    },
    join() {
      if (cutOff === "held back") for (const pair of pairs) flow(pair);
      cutOff = undefined;
    },
  };
}
