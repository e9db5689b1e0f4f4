import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type Picture, type PictureKind, UnusablePictureError } from "./picture.ts";

export interface DecodingTask {
  bytes: Buffer;
  mediaType: string;
  kind: PictureKind;
  maxCpuMs: number;
}

export type DecodingOutcome = { picture: Picture } | { unusable: string };

/** On a busy machine, the CPU time of a task takes longer. */
const maxMs = 45_000;
const maxIdleMs = 10_000;

/** Beside this module, both in the source and in the bundle. */
const program = new URL(
  import.meta.url.endsWith(".ts") ? "./decode-picture.process.ts" : "./decode-picture.process.js",
  import.meta.url,
);

/** Processes without a task. Each ends soon, unless it gets another one: starting one takes longer than most pictures. */
const idle = new Map<ChildProcess, NodeJS.Timeout>();

function takeProcess(): ChildProcess {
  for (const [child, timer] of idle) {
    clearTimeout(timer);
    idle.delete(child);
    if (child.connected) return child;
  }
  // Without the environment, which has secrets. It ends with this process, when the channel is closed.
  return fork(program, {
    env: {},
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

function giveBack(child: ChildProcess): void {
  const timer = setTimeout(() => {
    idle.delete(child);
    child.disconnect();
  }, maxIdleMs);
  idle.set(child, timer);
  // Neither keeps this process running.
  timer.unref();
  child.unref();
  child.channel?.unref();
}

/** Decodes a picture in another process, which is killed if it takes more CPU time or memory than any picture that someone would send. */
export async function decodeOutside(task: DecodingTask): Promise<Picture> {
  const child = takeProcess();
  child.ref();
  child.channel?.ref();
  const ended = new AbortController();
  const { signal } = ended;
  const tooLong = setTimeout(() => child.kill("SIGKILL"), maxMs);
  try {
    child.send(task);
    const outcome = await Promise.race([
      once(child, "message", { signal }).then(([message]) => message as DecodingOutcome),
      once(child, "exit", { signal }).then(([code]) => code as number | null),
    ]);
    if (outcome === null) {
      throw new UnusablePictureError(
        "The picture takes too long, or too much memory, to decode. Reduce its size, and export it again.",
      );
    }
    if (typeof outcome === "number") throw new Error(`the process that decodes pictures exited with ${outcome}`);
    giveBack(child);
    if ("unusable" in outcome) throw new UnusablePictureError(outcome.unusable);
    return outcome.picture;
  } finally {
    clearTimeout(tooLong);
    ended.abort();
  }
}
