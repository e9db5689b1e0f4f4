import { timingSafeEqual } from "node:crypto";

/** Texts are compared, not what they decode to: lenient decoders take several texts for the same signature. */
export function isSameText(expected: string, given: string): boolean {
  // Only spares the work: a header can hold many thousand made-up signatures.
  if (given.length !== expected.length) return false;
  const expectedBytes = Buffer.from(expected, "utf8");
  const givenBytes = Buffer.from(given, "utf8");
  return givenBytes.length === expectedBytes.length && timingSafeEqual(givenBytes, expectedBytes);
}
