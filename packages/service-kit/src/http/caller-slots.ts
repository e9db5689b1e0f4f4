import type { FastifyReply } from "fastify";
import { createKeyedTaskLimiter } from "./keyed-task-limiter.ts";
import type { Problem } from "./problem.ts";
import { rateLimitProblem } from "./rate-limit.ts";
import { standardProblems } from "./standard-problems.ts";

/** A page sends a dozen requests at once, and a script may send more. */
const maxWaiting = 100;

/** Returns when the caller has a slot, which is released when the response is sent or the connection is closed. */
export type TakeCallerSlot = (caller: string, reply: FastifyReply) => Promise<void>;

/**
 * Limits the requests in progress of each caller; further ones wait. Each may keep a database connection for as long as a statement takes,
 * so one caller, whose rate allows 20 a second, could otherwise keep all of them.
 */
export function createCallerSlots(perCaller: number): TakeCallerSlot {
  const createProblem = (): Problem =>
    rateLimitProblem(standardProblems.rateLimited, `${perCaller + maxWaiting} of your requests are in progress.`, {
      limit: perCaller + maxWaiting,
      retryAfterMs: 1_000,
    });
  const slots = createKeyedTaskLimiter({ maxRunning: perCaller, maxWaiting, createProblem });
  return (caller, { raw }) =>
    new Promise((resolve, reject) => {
      const closed = new AbortController();
      raw.once("close", () => closed.abort(new Error("the connection is closed")));
      const waitUntilClosed = (): Promise<void> => {
        resolve();
        return new Promise((release) => {
          if (raw.destroyed) release();
          else raw.once("close", release);
        });
      };
      slots.run(caller, waitUntilClosed, closed.signal).catch(reject);
    });
}
