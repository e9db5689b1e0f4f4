export interface Slots {
  /** How many more requests may start now. */
  free(): number;
  /** True when the recipient has no free slot besides the reserved ones. */
  isFull(recipient: string, reserved?: number): boolean;
  fullRecipients(): string[];
  take(recipient: string): Slot;
  /** Resolves when no request is in flight. */
  whenIdle(): Promise<void>;
}

export interface Slot {
  /** The recipient has responded: it may get another request. The slot stays taken until the delivery is settled. */
  endRequest: () => void;
  release: () => void;
}

const slowAfterMs = 1_000;
const slowPerSlot = 8;
/** How many deliveries of a recipient may be in flight or unsettled, for each request that it may have in flight. */
const unsettledPerRequest = 4;

function createCounter() {
  const counts = new Map<string, number>();
  return {
    get: (key: string): number => counts.get(key) ?? 0,
    keys: () => counts.keys(),
    add(key: string, change: 1 | -1): void {
      const count = (counts.get(key) ?? 0) + change;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    },
  };
}

/**
 * Limits requests in flight, in total and per recipient. A request that takes longer than a second waits for a slow receiver
 * and costs only a socket, so it releases its shared slot: hanging receivers can't take all of them. The number of such slow
 * requests is limited too.
 */
export function createSlots(options: { maxInFlight: number; maxPerRecipient: number; onFree: () => void }): Slots {
  const { maxInFlight, maxPerRecipient, onFree } = options;
  const maxSlow = maxInFlight * slowPerSlot;
  const requests = createCounter();
  const unsettled = createCounter();
  let inFlight = 0;
  let slow = 0;
  let onIdle: (() => void) | undefined;

  const isFull = (recipient: string, reserved = 0): boolean =>
    requests.get(recipient) >= maxPerRecipient - reserved ||
    unsettled.get(recipient) >= maxPerRecipient * unsettledPerRequest;
  return {
    free: () => maxInFlight - (inFlight - slow),
    isFull,
    fullRecipients: () => [...unsettled.keys()].filter((recipient) => isFull(recipient)),
    take(recipient) {
      let isSlow = false;
      inFlight += 1;
      requests.add(recipient, 1);
      unsettled.add(recipient, 1);
      const timer = setTimeout(() => {
        if (slow >= maxSlow) return;
        isSlow = true;
        slow += 1;
        onFree();
      }, slowAfterMs);
      let hasEnded = false;
      const endRequest = (): void => {
        if (hasEnded) return;
        hasEnded = true;
        clearTimeout(timer);
        requests.add(recipient, -1);
      };
      return {
        endRequest() {
          const wasFull = isFull(recipient);
          endRequest();
          if (wasFull) onFree();
        },
        release() {
          endRequest();
          unsettled.add(recipient, -1);
          inFlight -= 1;
          if (isSlow) slow -= 1;
          if (inFlight === 0) onIdle?.();
          onFree();
        },
      };
    },
    whenIdle: () =>
      new Promise((resolve) => {
        if (inFlight === 0) resolve();
        else onIdle = resolve;
      }),
  };
}
