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

/** The first invalid line, counted from 1. No other character of UTF-8 contains the byte of a newline. */
function findInvalidLine(body: Buffer): number {
  let line = 1;
  let start = 0;
  for (let end = body.indexOf(newline); end >= 0; end = body.indexOf(newline, start)) {
    if (!isUtf8(body.subarray(start, end))) return line;
    line += 1;
    start = end + 1;
  }
  return line;
}
