export interface TaskLimiter {
  isFull(): boolean;
  /** A task that still waits when the signal aborts never runs, and rejects with its reason. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Limits the number of concurrent tasks; waiting tasks run in order of arrival. */
export function createTaskLimiter(maxRunning: number, maxWaiting: number): TaskLimiter {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    isFull: () => running >= maxRunning && waiting.length >= maxWaiting,
    async run(work, signal) {
      if (running < maxRunning) running += 1;
      else {
        await new Promise<void>((resolve, reject) => {
          waiting.push(resolve);
          signal?.addEventListener("abort", () => {
            const nth = waiting.indexOf(resolve);
            if (nth === -1) return;
            waiting.splice(nth, 1);
            reject(signal.reason);
          });
        });
      }
      try {
        return await work();
      } finally {
        // The slot passes to the next waiting task, so that a new task can't overtake it.
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}
