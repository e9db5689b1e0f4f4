import type { ServerResponse } from "node:http";
import net from "node:net";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import closeWithGrace from "close-with-grace";
import type { FastifyInstance } from "fastify";
import type { Logger } from "../telemetry/logger.ts";

const leaveWithinMs = 9_500;
const quietMs = 1_000;

/**
 * Listens until SIGTERM or SIGINT. Then no connection is accepted any more; answers on open ones say
 * `Connection: close`, so that busy clients leave by themselves after their answer, and idle ones are closed last.
 */
export async function serve(
  server: FastifyInstance,
  options: { host: string; port: number; logger: Logger; stop: () => Promise<void> },
): Promise<void> {
  const { logger } = options;
  const underWay = new Set<ServerResponse>();
  let stopping = false;
  server.server.prependListener("request", (_request, response) => {
    underWay.add(response);
    response.once("close", () => underWay.delete(response));
    if (stopping) response.setHeader("connection", "close");
  });

  const onTimeout = (): void => logger.error({ requests: underWay.size }, "stopped: these were not answered in time");
  const grace = closeWithGrace({ delay: leaveWithinMs, logger: false, onTimeout }, async ({ signal, err }) => {
    stopping = true;
    if (err !== undefined) logger.fatal({ err }, "stopping because of an error that nothing caught");
    else logger.info({ signal }, "stopping: finishing what is in flight");
    for (const response of underWay) if (!response.headersSent) response.setHeader("connection", "close");
    // The kernel may have connections for us that nobody has accepted yet: the end of listening would reset them.
    await turnOfTheLoop();
    await connectionsGone(server.server);
    // A process that got no time for a while sees that time is up before it sees what has come in meanwhile.
    await turnOfTheLoop();
    while (underWay.size > 0) await Promise.all([...underWay].map(closed));
    // Who asks nothing, or never finishes asking, has had its time; Node takes some of these for busy and would wait.
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

function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once("close", resolve));
}

/** http's own close() would cut idle keep-alive connections at once, and with them a request just on its way. */
function connectionsGone(listening: net.Server): Promise<void> {
  return new Promise((resolve) => {
    const enough = setTimeout(resolve, quietMs);
    net.Server.prototype.close.call(listening, () => {
      clearTimeout(enough);
      resolve();
    });
  });
}
