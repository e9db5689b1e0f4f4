import { useSyncExternalStore } from "react";

/** Requests wait here while the session has ended, and go on when somebody has signed in in another tab. */
let waiting: PromiseWithResolvers<boolean> | undefined;
const listeners = new Set<() => void>();

const notify = (): void => {
  for (const listener of listeners) listener();
};

/** Resolves to true once the request can be repeated, and to false if the person doesn't sign in now. */
export function waitForSignIn(): Promise<boolean> {
  if (waiting === undefined) {
    waiting = Promise.withResolvers<boolean>();
    notify();
  }
  return waiting.promise;
}

export function settleSignIn(isSignedIn: boolean): void {
  const settled = waiting;
  waiting = undefined;
  settled?.resolve(isSignedIn);
  notify();
}

/** Whether a request waits for somebody to sign in. */
export const useIsSignInNeeded = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => waiting !== undefined,
  );

const channelName = "session";

/** Tells the other tabs of this browser that somebody has signed in. */
export function announceSignIn(): void {
  const channel = new BroadcastChannel(channelName);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origins
  channel.postMessage("signed-in");
  channel.close();
}

export function onSignInElsewhere(listener: () => void): () => void {
  const channel = new BroadcastChannel(channelName);
  channel.addEventListener("message", listener);
  return () => channel.close();
}
