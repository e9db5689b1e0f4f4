import { invalidRequest } from "./invalid-request.ts";
import type { Problem } from "./problem.ts";

/** Where a page ended, as one opaque word: clients hand it back, and read nothing into it. */
export function cursorOf(...parts: string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

export function invalidCursor(): Problem {
  return invalidRequest("/query/after", "is not a `next` that this list has answered");
}

export function readCursor(cursor: string, parts: number): string[] {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    throw invalidCursor();
  }
  // NUL would be an error of the database; the guard that refuses it elsewhere can't see into a cursor.
  const isPart = (part: unknown): part is string => typeof part === "string" && !part.includes("\0");
  if (!Array.isArray(read) || read.length !== parts || !read.every(isPart)) throw invalidCursor();
  return read;
}
