export interface Slots {
  isFull(): boolean;
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Runs a bounded number of tasks at once, in the order in which they came. */
export function createSlots(maxRunning: number, maxWaiting: number): Slots {
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
        // The next one takes over the slot, so that nobody who comes meanwhile gets it first.
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}
