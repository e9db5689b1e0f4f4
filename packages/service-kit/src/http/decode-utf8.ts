import { isUtf8 } from "node:buffer";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

/** Decodes a body. Throws a problem for other encodings: `toString` would replace what it can't decode, and it would be stored so. */
export function decodeUtf8(body: Buffer): string {
  if (isUtf8(body)) return body.toString("utf8");
  const detail = `The body is not valid UTF-8; see line ${findInvalidLine(body)}.`;
  throw new Problem(standardProblems.invalidRequest, detail);
}

const newline = 0x0a;
/** Many short lines are checked faster together than one by one. */
const minBlockBytes = 16_384;

/** The first invalid line, counted from 1. No other character of UTF-8 contains the byte of a newline. */
function findInvalidLine(body: Buffer): number {
  const endOfLine = (from: number): number => {
    const found = body.indexOf(newline, from);
    return found < 0 ? body.length : found;
  };
  let [line, start] = [1, 0];
  for (let end = endOfLine(minBlockBytes); isUtf8(body.subarray(start, end)); end = endOfLine(end + minBlockBytes)) {
    // Faster than a search for each newline.
    for (let at = start; at <= end; at += 1) if (body[at] === newline) line += 1;
    start = end + 1;
  }
  for (let end = endOfLine(start); isUtf8(body.subarray(start, end)); end = endOfLine(start)) {
    line += 1;
    start = end + 1;
  }
  return line;
}
