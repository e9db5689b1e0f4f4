import pg from "pg";
import type { Logger } from "../telemetry/logger.ts";
import { type KeptConnection, keepConnected } from "./keep-connected.ts";
import { requireWritable } from "./read-only.ts";

export type Listener = KeptConnection;

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

export function listen({ service, channel, ...options }: ListenOptions): Listener {
  return keepConnected({
    ...options,
    applicationName: `${service} listener`,
    what: "database listener",
    logFields: { channel },
    // Nobody notifies on a server that was the primary.
    heartbeat: (client) => client.query(requireWritable),
    heartbeatMs,
    timeoutMs: 2_000,
    prepare: (client) => client.query(`${requireWritable}; listen ${pg.escapeIdentifier(channel)}`),
  });
}
