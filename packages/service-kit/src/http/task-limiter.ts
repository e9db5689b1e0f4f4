export interface TaskLimiter {
  isFull(): boolean;
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Limits the number of concurrent tasks; waiting tasks run in order of arrival. */
export function createTaskLimiter(maxRunning: number, maxWaiting: number): TaskLimiter {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    isFull: () => running >= maxRunning && waiting.length >= maxWaiting,
    async run(work) {
      if (running < maxRunning) running += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
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
