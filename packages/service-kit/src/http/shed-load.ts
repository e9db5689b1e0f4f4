import underPressure from "@fastify/under-pressure";
import type { FastifyInstance } from "fastify";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

const sampleMs = 500;

/**
 * Fewer requests than these don't cause an overload. If the event loop is late all the same, other processes use the machine: refusing
 * requests wouldn't help them, and would fail the only client of a small practice.
 */
export const minRequestsInProgress = 20;

/** Refuses requests with 503 while the event loop is overloaded, instead of queueing them. */
export async function shedLoad(server: FastifyInstance, maxEventLoopDelayMs: number): Promise<void> {
  let measuredFrom = Number.POSITIVE_INFINITY;
  let inProgress = 0;
  server.addHook("onListen", (done) => {
    // Samples taken while the process started don't measure the load of requests.
    measuredFrom = performance.now() + 2 * sampleMs;
    done();
  });
  server.addHook("onRequest", (_request, reply, done) => {
    // A connection that is closed already emits no `close` anymore.
    if (!reply.raw.destroyed) {
      inProgress += 1;
      reply.raw.once("close", () => {
        inProgress -= 1;
      });
    }
    done();
  });
  await server.register(underPressure, {
    maxEventLoopDelay: maxEventLoopDelayMs,
    sampleInterval: sampleMs,
    pressureHandler: async (_request, _reply, _type, lagMs) => {
      if (inProgress <= minRequestsInProgress || performance.now() < measuredFrom) return;
      // Two samples without an interval between them, as after a long pause of the process, measure nothing.
      if (lagMs === Number.POSITIVE_INFINITY) return;
      throw new Problem(standardProblems.overloaded, "The service is overloaded; this request was not processed.", {
        headers: { "retry-after": "2" },
      });
    },
  });
}
