import { useState } from "react";

export interface IdempotencyKeys {
  /** The same for each attempt with the same body, so that a repeated attempt changes nothing twice. The API refuses a key with another body. */
  keyFor: (body: unknown) => string;
  /** After a success: to do the same once more is another request. */
  forget: () => void;
}

export function createIdempotencyKeys(createKey: () => string = () => crypto.randomUUID()): IdempotencyKeys {
  let known: { body: string; key: string } | undefined;
  return {
    keyFor: (body) => {
      const text = JSON.stringify([body]);
      if (known?.body !== text) known = { body: text, key: createKey() };
      return known.key;
    },
    forget: () => {
      known = undefined;
    },
  };
}

/** The keys of one kind of request, for as long as its form is shown. */
export const useIdempotencyKeys = (): IdempotencyKeys => useState(() => createIdempotencyKeys())[0];
