import underPressure from "@fastify/under-pressure";
import type { FastifyInstance } from "fastify";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

const sampleMs = 500;

/** Refuses requests with 503 while the event loop is overloaded, instead of queueing them. */
export async function shedLoad(server: FastifyInstance, maxEventLoopDelayMs: number): Promise<void> {
  let measuredFrom = Number.POSITIVE_INFINITY;
  server.addHook("onListen", (done) => {
    // Samples taken while the process started don't measure the load of requests.
    measuredFrom = performance.now() + 2 * sampleMs;
    done();
  });
  await server.register(underPressure, {
    maxEventLoopDelay: maxEventLoopDelayMs,
    sampleInterval: sampleMs,
    pressureHandler: async (_request, _reply, _type, lagMs) => {
      if (performance.now() < measuredFrom) return;
      // Two samples without an interval between them, as after a long pause of the process, measure nothing.
      if (lagMs === Number.POSITIVE_INFINITY) return;
      throw new Problem(standardProblems.overloaded, "The service is overloaded; this request was not processed.", {
        headers: { "retry-after": "2" },
      });
    },
  });
}
