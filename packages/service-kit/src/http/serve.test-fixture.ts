// serve.test.ts starts this as a child process, with the port to listen on. It sends its address and "begun" messages to the parent.
import { setTimeout as delay } from "node:timers/promises";
import { createLogger } from "../telemetry/logger.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { allowAnyone } from "./access.ts";
import { serve } from "./serve.ts";
import { createServer } from "./server.ts";

const logger = createLogger({ service: "fixture", level: "info" });
const server = await createServer({
  about: { title: "Fixture", description: "Serves a test.", links: [] },
  logger,
  metrics: createMetrics("fixture"),
  tracing: await startTracing("fixture", undefined),
  metricsToken: undefined,
  trustedProxies: [],
  limits: { urlBytes: 8_192, requestMs: 30_000, eventLoopDelayMs: 1_000 },
  readiness: () => Promise.resolve(undefined),
  problems: [],
  logHash: () => "hash",
  access: {
    tokens: {
      findVerified: () => undefined,
      verify: () => Promise.reject(new Error("no token is accepted")),
    },
    requestsPerMinute: 1,
    requestsAtOnce: 1_000,
    refusedTokensPerMinute: 1,
  },
});
allowAnyone(server);

server.get("/quick", () => ({}));
server.get<{ Params: { ms: string } }>("/slow/:ms", (request) => {
  process.send?.("begun");
  return delay(Number(request.params.ms), "x".repeat(1_000_000));
});
server.get("/stream", (_request, reply) => {
  process.send?.("begun");
  const parts = async function* parts() {
    for (let part = 0; part < 20; part += 1) {
      yield "x".repeat(50_000);
      await delay(100);
    }
  };
  return reply.type("text/plain").send(ReadableStream.from(parts()));
});
server.get("/never", () => {
  process.send?.("begun");
  return new Promise(() => undefined);
});
server.get("/crash", () => {
  setImmediate(() => {
    throw new Error("nothing caught this");
  });
  return {};
});

// Stands for the open handles of a service: the process runs until `stop` is called.
const open = setInterval(() => undefined, 60_000);
try {
  await serve(server, {
    host: "127.0.0.1",
    port: Number(process.argv[2]),
    logger,
    stop: async () => clearInterval(open),
  });
  process.send?.(server.server.address());
} catch (error) {
  logger.error({ err: error }, "failed to start");
  process.exitCode = 1;
}
