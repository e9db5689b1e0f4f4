import { StringDecoder } from "node:string_decoder";

export const snippetBytes = 4_096;

/** Control characters affect terminals, format characters mislead readers, and PostgreSQL rejects NUL in text. */
const harmful = /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** As many whole characters as fit. */
function beginning(bytes: Buffer): string {
  const decoder = new StringDecoder("utf8");
  const text = decoder.write(bytes.subarray(0, snippetBytes));
  return bytes.length > snippetBytes ? text : text + decoder.end();
}

/** The beginning of a body as sanitised text, at most 4 KiB of UTF-8. */
export function snippetOf(body: Buffer): string {
  if (body.length === 0) return "";
  const text = beginning(body).replaceAll("\r\n", "\n").replace(harmful, "\ufffd");
  // A replacement character can take more bytes than the original.
  return Buffer.byteLength(text) > snippetBytes ? beginning(Buffer.from(text)) : text;
}
