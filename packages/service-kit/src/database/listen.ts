import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "../telemetry/logger.ts";

export interface Listener {
  stop(): Promise<void>;
}

export interface ListenOptions {
  url: string;
  service: string;
  channel: string;
  onNotification: (payload: string) => void;
  /** Notifications sent while disconnected are lost, so after each connect the caller must assume that it missed some. */
  onConnected: () => void;
  /** No notifications arrive until `onConnected` is called again. */
  onDisconnected?: () => void;
  logger: Logger;
}

const heartbeatMs = 5_000;
const reconnectMs = { initial: 50, max: 2_000 };

export function listen(options: ListenOptions): Listener {
  const stopped = new AbortController();
  const finished = listenUntilStopped(options, stopped.signal);
  return {
    stop() {
      stopped.abort();
      return finished;
    },
  };
}

async function listenUntilStopped(options: ListenOptions, stopped: AbortSignal): Promise<void> {
  let wait = reconnectMs.initial;
  while (!stopped.aborted) {
    try {
      await listenOnce(options, stopped, () => {
        wait = reconnectMs.initial;
      });
    } catch (error) {
      options.logger.warn({ err: error, channel: options.channel }, "database listener isn't connected; reconnecting");
    }
    await delay(wait, undefined, { signal: stopped }).catch(() => undefined);
    wait = Math.min(wait * 2, reconnectMs.max);
  }
}

async function listenOnce(options: ListenOptions, stopped: AbortSignal, connected: () => void): Promise<void> {
  const client = new pg.Client({
    connectionString: options.url,
    application_name: `${options.service} listener`,
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
    keepAlive: true,
  });
  const broken = Promise.withResolvers<void>();
  client.on("error", (error) => broken.reject(error));
  client.on("end", () => broken.resolve());
  client.on("notification", ({ payload = "" }) => options.onNotification(payload));
  const end = (): void => broken.resolve();
  stopped.addEventListener("abort", end);
  // A half-open connection is silent like an idle one; the heartbeat query tells them apart.
  const heartbeat = setInterval(() => void client.query("select 1").catch(broken.reject), heartbeatMs);
  try {
    await client.connect();
    await client.query(`listen ${pg.escapeIdentifier(options.channel)}`);
    if (stopped.aborted) return;
    connected();
    options.onConnected();
    await broken.promise.finally(options.onDisconnected);
  } finally {
    clearInterval(heartbeat);
    stopped.removeEventListener("abort", end);
    broken.promise.catch(() => undefined);
    await client.end().catch(() => undefined);
  }
}
