import { hostname } from "node:os";
import { keepConnected } from "@ehr-marketplace/service-kit/database";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type pg from "pg";
import {
  insertWorker,
  renewHeartbeat,
  silentAfterMs,
  suspectedAfterMs,
  tryLockWorker,
  unlockWorker,
} from "./worker-store.ts";

const heartbeatMs = 1_000;
/** A request takes at most ten seconds. One that begins within this time has ended before another worker takes its delivery over. */
const maxHeartbeatAgeMs = silentAfterMs - 10_000;
/** After the database was unavailable, other workers need this time to connect again. */
const reconnectGraceMs = 3_000;

export const workerHost = hostname().slice(0, 255);

export interface WorkerSession {
  /** The worker's id; undefined while it must neither fetch deliveries nor begin requests, because others may have declared it dead. */
  id(): number | undefined;
  /** Whether it has been connected for so long that a worker without a session is dead, and not only still disconnected. */
  canCheckOthers(): boolean;
  /** Ends the session. Returns the id of the worker, which the caller removes. */
  stop(): Promise<number | undefined>;
}

/** Registers the worker and shows that it is alive: by a lock that PostgreSQL releases when the session ends, and by a heartbeat. */
export function startWorkerSession(options: {
  url: string;
  service: string;
  logger: Logger;
  /** Called after each registration. */
  onRegistered: () => void;
}): WorkerSession {
  const { url, service, logger, onRegistered } = options;
  let id: number | undefined;
  let isLocked = false;
  let heartbeatAt = Number.NEGATIVE_INFINITY;
  let connectedAt: number | undefined;
  let isRenewing = false;

  const register = async (client: pg.Client): Promise<void> => {
    const sentAt = performance.now();
    id = await insertWorker(client, workerHost);
    isLocked = true;
    heartbeatAt = sentAt;
    onRegistered();
  };
  const renew = async (client: pg.Client): Promise<void> => {
    const sentAt = performance.now();
    if (id === undefined) return register(client);
    isLocked ||= await tryLockWorker(client, id);
    if (await renewHeartbeat(client, id)) {
      heartbeatAt = sentAt;
      return;
    }
    logger.warn(
      { workerId: id },
      "another worker has taken over this worker's deliveries; registering it as a new worker",
    );
    if (isLocked) await unlockWorker(client, id);
    await register(client);
  };
  const connection = keepConnected({
    url,
    applicationName: `${service} session`,
    what: "the worker's session",
    logger,
    heartbeatMs,
    // Longer than the heartbeat may be late: a worker that is slow must not end its own session.
    timeoutMs: maxHeartbeatAgeMs,
    async heartbeat(client) {
      if (isRenewing) return;
      isRenewing = true;
      await renew(client).finally(() => {
        isRenewing = false;
      });
    },
    async prepare(client) {
      isLocked = false;
      await renew(client);
    },
    onConnected() {
      connectedAt = performance.now();
    },
    onDisconnected() {
      connectedAt = undefined;
    },
  });
  return {
    id() {
      // Without a session, others may declare it dead as soon as it is late.
      const maxAgeMs = connectedAt === undefined ? suspectedAfterMs : maxHeartbeatAgeMs;
      return performance.now() - heartbeatAt < maxAgeMs ? id : undefined;
    },
    canCheckOthers: () => connectedAt !== undefined && performance.now() - connectedAt > reconnectGraceMs,
    async stop() {
      await connection.stop();
      return id;
    },
  };
}
