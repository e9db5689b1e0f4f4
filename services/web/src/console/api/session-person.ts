import { useSyncExternalStore } from "react";

/** For whom the page was loaded. Requests name the person, and the web refuses them if somebody else has signed in since. */
let person: string | undefined;
let isOtherPerson = false;
const listeners = new Set<() => void>();

function setOtherPerson(value: boolean): void {
  isOtherPerson = value;
  for (const listener of listeners) listener();
}

export const rememberPerson = (loadedFor: string): void => void (person ??= loadedFor);

export const personHeaders = (): Record<string, string> => (person === undefined ? {} : { "x-session-person": person });

export const reportOtherPerson = (): void => setOtherPerson(true);
export const dismissOtherPerson = (): void => setOtherPerson(false);

/** Whether a request was refused because somebody else has signed in. */
export const useIsOtherPerson = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isOtherPerson,
  );
