import type { App } from "@ehr-marketplace/service-kit/process";
import { createLogger, type Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { FastifyInstance } from "fastify";
import type { CleanUp } from "./clean-up.ts";

/** What a service is told when it runs in a test's own process. */
export const inProcessEnvironment = {
  NODE_ENV: "test",
  CALLER_REQUESTS_PER_MINUTE: "1000000",
  PUBLIC_REQUESTS_PER_MINUTE: "1000000",
  // The tests share this process, and other tests its processor: its lag is theirs.
  MAX_EVENT_LOOP_DELAY_MS: "60000",
};

/** Listens on a port of its own, with nothing replaced. */
export async function startInProcess(
  cleanUp: CleanUp,
  createApp: (logger: Logger) => Promise<App>,
): Promise<{ url: string; server: FastifyInstance }> {
  const app = await createApp(createLogger({ service: "test", level: "silent" }));
  const url = await app.server.listen({ host: "127.0.0.1", port: 0 });
  cleanUp(async () => {
    await app.server.close();
    await app.stop();
  });
  return { url, server: app.server };
}
