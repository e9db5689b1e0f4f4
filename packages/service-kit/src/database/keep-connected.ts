import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "../telemetry/logger.ts";
import { applySettings } from "./apply-settings.ts";

export interface KeptConnection {
  stop(): Promise<void>;
}

export interface KeepConnectedOptions {
  url: string;
  applicationName: string;
  /** Runs after each connect; if it fails, the connection is reopened. */
  prepare: (client: pg.Client) => Promise<unknown>;
  onConnected?: () => void;
  onDisconnected?: () => void;
  /** Runs at an interval. A half-open connection is silent like an idle one; this statement tells them apart. */
  heartbeat: (client: pg.Client) => Promise<unknown>;
  heartbeatMs: number;
  /** Of a statement. After it, the connection is reopened. */
  timeoutMs: number;
  onNotification?: (payload: string) => void;
  /** Logged when the connection is lost: "… isn't connected; reconnecting". */
  what: string;
  logFields?: Record<string, string>;
  logger: Logger;
}

const reconnectMs = { initial: 50, max: 500 };
const connectMs = 2_000;

/** Keeps one connection open, for what belongs to a session: notifications and session locks. Reconnects until it is stopped. */
export function keepConnected(options: KeepConnectedOptions): KeptConnection {
  const stopped = new AbortController();
  const finished = connectUntilStopped(options, stopped.signal);
  return {
    stop() {
      stopped.abort();
      return finished;
    },
  };
}

async function connectUntilStopped(options: KeepConnectedOptions, stopped: AbortSignal): Promise<void> {
  let wait = reconnectMs.initial;
  while (!stopped.aborted) {
    try {
      await connectOnce(options, stopped, () => {
        wait = reconnectMs.initial;
      });
    } catch (error) {
      options.logger.warn({ err: error, ...options.logFields }, `${options.what} isn't connected; reconnecting`);
    }
    await delay(wait, undefined, { signal: stopped }).catch(() => undefined);
    wait = Math.min(wait * 2, reconnectMs.max);
  }
}

async function connectOnce(options: KeepConnectedOptions, stopped: AbortSignal, connected: () => void): Promise<void> {
  const client = new pg.Client({
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectMs,
    query_timeout: options.timeoutMs,
    keepAlive: true,
  });
  const broken = Promise.withResolvers<void>();
  client.on("error", (error) => broken.reject(error));
  client.on("end", () => broken.resolve());
  client.on("notification", ({ payload = "" }) => options.onNotification?.(payload));
  const end = (): void => broken.resolve();
  stopped.addEventListener("abort", end);
  let heartbeat: NodeJS.Timeout | undefined;
  try {
    await client.connect();
    await applySettings(client, { statement_timeout: options.timeoutMs });
    await options.prepare(client);
    if (stopped.aborted) return;
    connected();
    options.onConnected?.();
    heartbeat = setInterval(() => void options.heartbeat(client).catch(broken.reject), options.heartbeatMs);
    await broken.promise.finally(options.onDisconnected);
  } finally {
    clearInterval(heartbeat);
    stopped.removeEventListener("abort", end);
    broken.promise.catch(() => undefined);
    await client.end().catch(() => undefined);
  }
}
