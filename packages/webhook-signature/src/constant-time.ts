import { timingSafeEqual } from "node:crypto";

/** Compares the texts and not the decoded bytes, because lenient decoders accept several texts for the same signature. */
export function isSameText(expected: string, given: string): boolean {
  // Saves the comparison: a header can contain thousands of made-up signatures.
  if (given.length !== expected.length) return false;
  const expectedBytes = Buffer.from(expected, "utf8");
  const givenBytes = Buffer.from(given, "utf8");
  return givenBytes.length === expectedBytes.length && timingSafeEqual(givenBytes, expectedBytes);
}
