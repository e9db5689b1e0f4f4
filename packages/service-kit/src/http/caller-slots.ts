import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import { createKeyedTaskLimiter } from "./keyed-task-limiter.ts";
import { Problem } from "./problem.ts";
import { rateLimitProblem } from "./rate-limit.ts";
import { standardProblems } from "./standard-problems.ts";

/** A page sends a dozen requests at once, and a script may send more. */
const maxWaiting = 100;

export interface CallerSlots {
  /**
   * Returns when the caller has a slot. It is released when the response is sent or the connection is closed, and the handler has settled: what
   * a client that leaves has begun goes on.
   */
  take(caller: string, request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Keeps the request's slot until the handler has settled. */
  wrap(handler: RouteHandlerMethod): RouteHandlerMethod;
}

const connectionClosed = (): Problem => new Problem(standardProblems.invalidRequest, "The connection closed.");

/**
 * Limits the requests in progress of each caller; further ones wait. Each may keep a database connection for as long as a statement takes,
 * so one caller, whose rate allows 20 a second, could otherwise keep all of them.
 */
export function createCallerSlots(perCaller: number): CallerSlots {
  const createProblem = (): Problem =>
    rateLimitProblem(standardProblems.rateLimited, `${perCaller + maxWaiting} of your requests are in progress.`, {
      limit: perCaller + maxWaiting,
      retryAfterMs: 1_000,
    });
  const slots = createKeyedTaskLimiter({ maxRunning: perCaller, maxWaiting, createProblem });
  /** What keeps the slot of a request: its connection, and its handler while that runs. */
  const kept = new WeakMap<FastifyRequest, { users: number; release: () => void }>();
  const leave = (request: FastifyRequest): void => {
    const slot = kept.get(request);
    if (slot === undefined) return;
    slot.users -= 1;
    if (slot.users === 0) slot.release();
  };
  return {
    take: (caller, request, { raw }) =>
      new Promise((resolve, reject) => {
        if (raw.destroyed) throw connectionClosed();
        const closed = new AbortController();
        const waitUntilReleased = (): Promise<void> =>
          new Promise((release) => {
            kept.set(request, { users: 1, release });
            resolve();
          });
        raw.once("close", () => {
          closed.abort(connectionClosed());
          leave(request);
        });
        slots.run(caller, waitUntilReleased, closed.signal).catch(reject);
      }),
    wrap: (handler) =>
      function handleAndLeave(request, reply) {
        const slot = kept.get(request);
        if (slot !== undefined) slot.users += 1;
        const settle = (): void => leave(request);
        try {
          const result: unknown = handler.call(this, request, reply);
          if (result instanceof Promise) void result.then(settle, settle);
          else settle();
          return result;
        } catch (error) {
          settle();
          throw error;
        }
      },
  };
}
