export interface Places {
  /** How many more may go out now. */
  free(): number;
  /** Has it no place left, apart from those that are kept? */
  isFull(recipient: string, kept?: number): boolean;
  fullRecipients(): string[];
  /** Takes a place; what it answers gives the place back. */
  take(recipient: string): () => void;
  /** Resolves when nothing is out. */
  empty(): Promise<void>;
}

const slowAfterMs = 1_000;
const slowPerPlace = 8;

/**
 * The requests that are out. One that has been out for a second waits for a receiver that hangs, and costs no more than a
 * socket: its place goes to another, so that receivers that hang can't take them all. Of those there is a bound too.
 */
export function createPlaces(options: { mostInFlight: number; mostPerRecipient: number; onFree: () => void }): Places {
  const { mostInFlight, mostPerRecipient, onFree } = options;
  const mostSlow = mostInFlight * slowPerPlace;
  const byRecipient = new Map<string, number>();
  let out = 0;
  let slow = 0;
  let whenEmpty: (() => void) | undefined;

  const isFull = (recipient: string, kept = 0): boolean => (byRecipient.get(recipient) ?? 0) >= mostPerRecipient - kept;
  return {
    free: () => mostInFlight - (out - slow),
    isFull,
    fullRecipients: () => [...byRecipient.keys()].filter((recipient) => isFull(recipient)),
    take(recipient) {
      let isSlow = false;
      out += 1;
      byRecipient.set(recipient, (byRecipient.get(recipient) ?? 0) + 1);
      const timer = setTimeout(() => {
        if (slow >= mostSlow) return;
        isSlow = true;
        slow += 1;
        onFree();
      }, slowAfterMs);
      return () => {
        clearTimeout(timer);
        out -= 1;
        if (isSlow) slow -= 1;
        const left = (byRecipient.get(recipient) ?? 1) - 1;
        if (left === 0) byRecipient.delete(recipient);
        else byRecipient.set(recipient, left);
        if (out === 0) whenEmpty?.();
        onFree();
      };
    },
    empty: () =>
      new Promise((resolve) => {
        if (out === 0) resolve();
        else whenEmpty = resolve;
      }),
  };
}
