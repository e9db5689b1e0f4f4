import type { ServerResponse } from "node:http";
import net from "node:net";
import { setImmediate as nextEventLoopTurn } from "node:timers/promises";
import closeWithGrace from "close-with-grace";
import type { FastifyInstance } from "fastify";
import type { Logger } from "../telemetry/logger.ts";

const shutdownTimeoutMs = 9_500;
const connectionDrainMs = 1_000;

/**
 * Listens until SIGTERM or SIGINT, then shuts down gracefully: it stops accepting connections, sends `Connection: close` with
 * responses on open ones, waits for the requests in progress, and closes idle connections last.
 */
export async function serve(
  server: FastifyInstance,
  options: { host: string; port: number; logger: Logger; stop: () => Promise<void> },
): Promise<void> {
  const { logger } = options;
  const pendingResponses = new Set<ServerResponse>();
  let stopping = false;
  server.server.prependListener("request", (_request, response) => {
    pendingResponses.add(response);
    response.once("close", () => pendingResponses.delete(response));
    if (stopping) response.setHeader("connection", "close");
  });

  const onTimeout = (): void =>
    logger.error({ requests: pendingResponses.size }, "graceful shutdown timed out; stopping with unfinished requests");
  const grace = closeWithGrace({ delay: shutdownTimeoutMs, logger: false, onTimeout }, async ({ signal, err }) => {
    stopping = true;
    if (err !== undefined) logger.fatal({ err }, "uncaught error; shutting down");
    else logger.info({ signal }, "signal received; shutting down after pending requests");
    for (const response of pendingResponses) if (!response.headersSent) response.setHeader("connection", "close");
    // Connections may still be in the kernel's accept queue; closing the listening socket would reset them.
    await nextEventLoopTurn();
    await stopAccepting(server.server);
    // After a long pause of the process, timers fire before the requests received meanwhile are read.
    await nextEventLoopTurn();
    while (pendingResponses.size > 0) await Promise.all([...pendingResponses].map(waitForClose));
    // Only idle connections and incomplete requests are left; Node counts some of them as busy and would wait for them.
    server.server.closeAllConnections();
    await server.close();
    await options.stop();
    logger.info("stopped");
  });

  try {
    await server.listen({ host: options.host, port: options.port });
  } catch (error) {
    grace.uninstall();
    await server.close();
    await options.stop();
    throw error;
  }
}

function waitForClose(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once("close", resolve));
}

/** Uses net's close(), because http's close() cuts idle keep-alive connections immediately, together with requests in transit. */
function stopAccepting(listening: net.Server): Promise<void> {
  return new Promise((resolve) => {
    const timeout = setTimeout(resolve, connectionDrainMs);
    net.Server.prototype.close.call(listening, () => {
      clearTimeout(timeout);
      resolve();
    });
  });
}
