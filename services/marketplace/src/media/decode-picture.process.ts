// Decodes pictures of strangers in a process of its own, one at a time: what is wrong with a file ends this process, and never a service.
// Started by picture-decoder.ts.
import { setPriority } from "node:os";
import { decodePicture } from "./decode-picture.ts";
import { UnusablePictureError } from "./picture.ts";
import type { DecodingOutcome, DecodingTask } from "./picture-decoder.ts";

/** 40 million pixels take 320 MB. */
const maxMemoryBytes = 768 * 1_048_576;
const pollMs = 25;

// Requests to the service come first.
setPriority(10);

/** Decoding has a thread of its own, so that this timer is in time. Nothing else stops such a thread. */
function endAtLimit(maxCpuMs: number): NodeJS.Timeout {
  const begun = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(begun);
    const isAboveLimit = user + system > maxCpuMs * 1_000 || process.memoryUsage.rss() > maxMemoryBytes;
    if (!isAboveLimit) return;
    clearInterval(timer);
    const unusable = "The picture takes too long, or too much memory, to decode. Reduce its size, and export it again.";
    process.send?.({ unusable, ends: true } satisfies DecodingOutcome, () => process.kill(process.pid, "SIGKILL"));
  }, pollMs);
  return timer;
}

async function decode({ bytes, mediaType, kind, maxCpuMs }: DecodingTask): Promise<DecodingOutcome> {
  const timer = endAtLimit(maxCpuMs);
  try {
    return { picture: await decodePicture(bytes, mediaType, kind) };
  } catch (error) {
    if (error instanceof UnusablePictureError) return { unusable: error.message };
    throw error;
  } finally {
    clearInterval(timer);
  }
}

process.on("message", (task: DecodingTask) => {
  void decode(task).then((outcome) => process.send?.(outcome));
});
