import underPressure from "@fastify/under-pressure";
import type { FastifyInstance } from "fastify";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

const sampleMs = 500;

/** Refuses at once what would otherwise wait behind an event loop that can't keep up. */
export async function shedLoad(server: FastifyInstance, maxEventLoopDelayMs: number): Promise<void> {
  let loopCountsFrom = Number.POSITIVE_INFINITY;
  server.addHook("onListen", (done) => {
    // What kept the loop busy while the process started says nothing about the load that it meets.
    loopCountsFrom = performance.now() + 2 * sampleMs;
    done();
  });
  await server.register(underPressure, {
    maxEventLoopDelay: maxEventLoopDelayMs,
    sampleInterval: sampleMs,
    pressureHandler: async (_request, _reply, _type, lagMs) => {
      if (performance.now() < loopCountsFrom) return;
      // Two samples in a row, with nothing between them, as after a long pause: that is no lag, but no measurement.
      if (lagMs === Number.POSITIVE_INFINITY) return;
      throw new Problem(
        standardProblems.overloaded,
        "There is more to do than can be done; this request was not begun.",
        {
          headers: { "retry-after": "2" },
        },
      );
    },
  });
}
