import { writeSync } from "node:fs";

const flushBytes = 8_192;
const maxBufferedBytes = 1_048_576;
const flushIntervalMs = 250;

/**
 * Buffers log lines and writes them in batches, because one write per line costs more than the request that it logs. If the reader is
 * slow (EAGAIN), unwritten bytes stay in the buffer up to `maxBufferedBytes`, above which lines are dropped. If the reader has gone,
 * lines are dropped: logging must neither stop the service nor delay its shutdown.
 */
export function createBufferedOutput(fileDescriptor: number): { write(line: string): void } {
  let buffered: Buffer[] = [];
  let bytes = 0;

  const flush = (): void => {
    if (bytes === 0) return;
    const pending = Buffer.concat(buffered, bytes);
    let written = 0;
    try {
      while (written < pending.length) written += writeSync(fileDescriptor, pending, written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EAGAIN") written = pending.length;
    }
    const rest = pending.subarray(written);
    buffered = rest.length === 0 ? [] : [rest];
    bytes = rest.length;
  };

  setInterval(flush, flushIntervalMs).unref();
  process.once("exit", flush);
  return {
    write(line) {
      if (bytes > maxBufferedBytes) return;
      const chunk = Buffer.from(line);
      buffered.push(chunk);
      bytes += chunk.length;
      if (bytes >= flushBytes) flush();
    },
  };
}
