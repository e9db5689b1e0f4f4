import { isUint8Array } from "node:util/types";

/**
 * A request body as it travels: its bytes (a `Buffer` is one kind of `Uint8Array`), or its text, which is taken as
 * UTF-8. Never the object that a parser made of it.
 */
export type RawBody = Uint8Array | string;

/** Asks what the value is and not who made it: a test runner's sandbox has a `Uint8Array` of its own. */
export function isRawBody(body: unknown): body is RawBody {
  return typeof body === "string" || isUint8Array(body);
}

export function requireRawBody(body: unknown): void {
  if (!isRawBody(body)) {
    throw new TypeError("The body has to be bytes or a string, as it will be sent; serialise it once, before signing.");
  }
}
