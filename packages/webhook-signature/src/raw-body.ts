import { isUint8Array } from "node:util/types";

/**
 * A raw request body: its bytes (a `Buffer` is a `Uint8Array`), or its text, which is encoded as UTF-8. Never a parsed
 * object.
 */
export type RawBody = Uint8Array | string;

/** Doesn't use `instanceof`: the sandbox of a test runner has its own `Uint8Array`. */
export function isRawBody(body: unknown): body is RawBody {
  return typeof body === "string" || isUint8Array(body);
}

export function requireRawBody(body: unknown): void {
  if (!isRawBody(body)) {
    throw new TypeError(
      "The body must be bytes or a string, exactly as it will be sent; serialise it once, before signing.",
    );
  }
}
