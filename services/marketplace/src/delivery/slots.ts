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

/**
 * Limits requests in flight, in total and per recipient. A request that takes longer than a second waits for a slow receiver
 * and costs only a socket, so it releases its shared slot: hanging receivers can't take all of them. The number of such slow
 * requests is limited too.
 */
export function createSlots(options: { maxInFlight: number; maxPerRecipient: number; onFree: () => void }): Slots {
  const { maxInFlight, maxPerRecipient, onFree } = options;
  const maxSlow = maxInFlight * slowPerSlot;
  const byRecipient = new Map<string, number>();
  let inFlight = 0;
  let slow = 0;
  let onIdle: (() => void) | undefined;

  const isFull = (recipient: string, reserved = 0): boolean =>
    (byRecipient.get(recipient) ?? 0) >= maxPerRecipient - reserved;
  return {
    free: () => maxInFlight - (inFlight - slow),
    isFull,
    fullRecipients: () => [...byRecipient.keys()].filter((recipient) => isFull(recipient)),
    take(recipient) {
      let isSlow = false;
      inFlight += 1;
      byRecipient.set(recipient, (byRecipient.get(recipient) ?? 0) + 1);
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
        const left = (byRecipient.get(recipient) ?? 1) - 1;
        if (left === 0) byRecipient.delete(recipient);
        else byRecipient.set(recipient, left);
      };
      return {
        endRequest() {
          const wasFull = isFull(recipient);
          endRequest();
          if (wasFull) onFree();
        },
        release() {
          endRequest();
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
