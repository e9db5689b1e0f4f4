import { invalidRequest } from "./invalid-request.ts";
import type { Problem } from "./problem.ts";

/** Encodes the position of a page's last row as an opaque cursor. */
export function encodeCursor(...parts: string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

export function invalidCursor(): Problem {
  return invalidRequest("/query/after", "is not a `next` cursor of this list");
}

export function decodeCursor(cursor: string, parts: number): string[] {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    throw invalidCursor();
  }
  // The request guard that refuses what PostgreSQL can't store doesn't decode cursors.
  const isPart = (part: unknown): part is string =>
    typeof part === "string" && !part.includes("\0") && part.isWellFormed();
  if (!Array.isArray(read) || read.length !== parts || !read.every(isPart)) throw invalidCursor();
  return read;
}
