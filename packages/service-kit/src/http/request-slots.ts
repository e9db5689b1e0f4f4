import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem, type ProblemKind } from "./problem.ts";
import { rateLimitProblem } from "./rate-limit.ts";
import { standardProblems } from "./standard-problems.ts";

export interface SlotLimits {
  total: number;
  perKey: number;
  /** Returned if the key has no free slot. Without a free slot in total, the response is 503. */
  problem: ProblemKind;
  detail: string;
}

/** A slot that a request has taken. */
export interface Slot {
  /** Keeps the slot until the work is over, also if the connection is closed before. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

const connectionClosed = (): Problem => new Problem(standardProblems.invalidRequest, "The connection closed.");
const retryAfter = { headers: { "retry-after": "1" } };

/** Limits the requests in progress, in total and for each key. */
export class RequestSlots {
  readonly #limits: SlotLimits;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** The number of slots in use. */
  get taken(): number {
    return this.#total;
  }

  /** Takes a slot until the response is sent or the connection is closed. */
  take(request: FastifyRequest, reply: FastifyReply, key: string): Slot {
    // A connection that is closed already emits no `close` anymore: its slot would never be released.
    if (request.raw.errored !== null || request.raw.socket.destroyed || reply.raw.destroyed) {
      throw connectionClosed();
    }
    const ofKey = this.#taken.get(key) ?? 0;
    const { total, perKey, problem, detail } = this.#limits;
    if (ofKey >= perKey) {
      throw problem.status === 429
        ? rateLimitProblem(problem, detail, { limit: perKey, retryAfterMs: 1_000 })
        : new Problem(problem, detail, retryAfter);
    }
    if (this.#total >= total) {
      throw new Problem(standardProblems.overloaded, "Too many transfers are in progress.", retryAfter);
    }
    this.#total += 1;
    this.#taken.set(key, ofKey + 1);

    let users = 1;
    const leave = (): void => {
      users -= 1;
      if (users === 0) this.#release(key);
    };
    reply.raw.once("close", leave);
    return {
      async run(work) {
        // Released already: the work would run without a slot, and nobody would receive its result.
        if (users === 0) throw connectionClosed();
        users += 1;
        return work().finally(leave);
      },
    };
  }

  #release(key: string): void {
    this.#total -= 1;
    const left = (this.#taken.get(key) ?? 1) - 1;
    if (left === 0) this.#taken.delete(key);
    else this.#taken.set(key, left);
  }
}
