import type { App } from "@ehr-marketplace/service-kit/process";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { type CleanUp, keepLog } from "@ehr-marketplace/test-kit";
import type { FastifyInstance } from "fastify";

/** Environment of a service that runs in the test's process. */
export const inProcessEnvironment = {
  NODE_ENV: "test",
  CALLER_REQUESTS_PER_MINUTE: "1000000",
  CALLER_REQUESTS_AT_ONCE: "1000",
  PUBLIC_REQUESTS_PER_MINUTE: "1000000",
  // Test code in this process and other tests on this machine delay the event loop; that must not cause load shedding.
  MAX_EVENT_LOOP_DELAY_MS: "60000",
};

/** Creates an app and listens on a free port, unless one is given. No component is mocked. */
export async function startInProcess(
  cleanUp: CleanUp,
  createApp: (logger: Logger) => Promise<App>,
  port = 0,
): Promise<{ url: string; server: FastifyInstance }> {
  const { createLogger } = await import("@ehr-marketplace/service-kit/telemetry");
  // An unexpected error is a bare 500 to the test; the log, printed if the test fails, has its reason.
  const app = await createApp(createLogger({ service: "test", level: "error" }, { write: keepLog("a service") }));
  // Registered first: a route with a mistake is found only here, and an app that isn't stopped keeps the test's process running.
  cleanUp(async () => {
    await app.server.close();
    await app.stop();
  });
  const url = await app.server.listen({ host: "127.0.0.1", port });
  return { url, server: app.server };
}
