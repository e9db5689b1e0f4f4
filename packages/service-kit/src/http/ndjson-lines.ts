import { isUtf8 } from "node:buffer";

const newline = 0x0a;

export interface NdjsonLine {
  /** Counted from 1. */
  line: number;
  /** Undefined if the line is longer than `maxLineBytes`, or isn't UTF-8. */
  text: string | undefined;
  /** Why there is no text. */
  error?: string;
}

/** Splits chunks of bytes into lines. It stores at most one incomplete line, and of a line that is too long nothing. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #parts: Buffer[] = [];
  #partBytes = 0;
  #isTooLong = false;
  #line = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that end in this chunk. */
  *split(chunk: Buffer): Generator<NdjsonLine> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end));
      start = end + 1;
      yield this.#take();
    }
    this.#add(chunk.subarray(start));
  }

  /** The last line, if it doesn't end with a newline. */
  *end(): Generator<NdjsonLine> {
    if (this.#partBytes > 0 || this.#isTooLong) yield this.#take();
  }

  #add(part: Buffer): void {
    if (this.#isTooLong || part.length === 0) return;
    this.#partBytes += part.length;
    if (this.#partBytes > this.#maxLineBytes) {
      this.#isTooLong = true;
      this.#parts = [];
    } else {
      this.#parts.push(part);
    }
  }

  #take(): NdjsonLine {
    this.#line += 1;
    const line = this.#line;
    const [first] = this.#parts;
    const bytes = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    const isTooLong = this.#isTooLong;
    this.#parts = [];
    this.#partBytes = 0;
    this.#isTooLong = false;
    if (isTooLong) return { line, text: undefined, error: `has more than ${this.#maxLineBytes} bytes` };
    if (!isUtf8(bytes)) return { line, text: undefined, error: "is not valid UTF-8" };
    return { line, text: bytes.toString("utf8") };
  }
}
