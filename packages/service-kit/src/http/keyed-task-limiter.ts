import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";
import { createTaskLimiter, type TaskLimiter } from "./task-limiter.ts";

export interface KeyedTaskLimiter {
  /** Throws if too many tasks run and wait. A task that still waits when the signal aborts never runs, and rejects with its reason. */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** The number of keys with running or waiting tasks. */
  size(): number;
}

export interface KeyedLimits {
  /** Of each key. */
  maxRunning: number;
  maxWaiting: number;
  /** Of all keys, running and waiting ones. Further ones get 503. */
  maxTotal?: number;
  /** Created if too many tasks of the key wait. */
  createProblem: () => Problem;
}

/** Limits the number of concurrent tasks of each key, so that no key can use up what all share. */
export function createKeyedTaskLimiter(limits: KeyedLimits): KeyedTaskLimiter {
  const { maxRunning, maxWaiting, maxTotal = Number.POSITIVE_INFINITY, createProblem } = limits;
  const byKey = new Map<string, { limiter: TaskLimiter; pending: number }>();
  let total = 0;
  return {
    async run(key, work, signal) {
      const entry = byKey.get(key) ?? { limiter: createTaskLimiter(maxRunning, maxWaiting), pending: 0 };
      if (entry.limiter.isFull()) throw createProblem();
      if (total >= maxTotal) throw overloaded();
      byKey.set(key, entry);
      entry.pending += 1;
      total += 1;
      try {
        return await entry.limiter.run(work, signal);
      } finally {
        total -= 1;
        entry.pending -= 1;
        if (entry.pending === 0) byKey.delete(key);
      }
    },
    size: () => byKey.size,
  };
}

const overloaded = (): Problem =>
  new Problem(standardProblems.overloaded, "Too many requests are in progress.", { headers: { "retry-after": "1" } });
