import { writeSync } from "node:fs";

const enoughBytes = 8_192;
const mostBytes = 1_048_576;
const longestWaitMs = 250;

/**
 * A write for each line would cost more than the request that it tells of: lines go out together, four times a second or
 * when there are enough. Who reads them may be slow or gone. Slow: what doesn't fit is tried again, up to a bound. Gone: the
 * lines are lost, and the service goes on; a log must neither stop it nor keep it from stopping.
 */
export function gatheredLines(fileDescriptor: number): { write(line: string): void } {
  let waiting: Buffer[] = [];
  let bytes = 0;

  const flush = (): void => {
    if (bytes === 0) return;
    const all = Buffer.concat(waiting, bytes);
    let written = 0;
    try {
      while (written < all.length) written += writeSync(fileDescriptor, all, written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EAGAIN") written = all.length;
    }
    const rest = all.subarray(written);
    waiting = rest.length === 0 ? [] : [rest];
    bytes = rest.length;
  };

  setInterval(flush, longestWaitMs).unref();
  process.once("exit", flush);
  return {
    write(line) {
      if (bytes > mostBytes) return;
      const chunk = Buffer.from(line);
      waiting.push(chunk);
      bytes += chunk.length;
      if (bytes >= enoughBytes) flush();
    },
  };
}
