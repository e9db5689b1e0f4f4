import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type Picture, type PictureKind, UnusablePictureError } from "./picture.ts";

export interface DecodingTask {
  bytes: Buffer;
  mediaType: string;
  /** Undefined: an icon if it can be one, else a screenshot. */
  kind: PictureKind | undefined;
  maxCpuMs: number;
}

/** `ends`: the process has exceeded a limit, and ends itself. */
export type DecodingOutcome = { picture: Picture } | { unusable: string; ends?: boolean };

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

function takeIdle(): ChildProcess | undefined {
  for (const [child, timer] of idle) {
    clearTimeout(timer);
    idle.delete(child);
    if (child.connected && child.exitCode === null && child.signalCode === null) return child;
  }
  return undefined;
}

function startProcess(): ChildProcess {
  // Without the environment, which has secrets. It ends with this process, when the channel is closed.
  const child = fork(program, {
    env: {},
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  // An idle one may die, too: without a listener, that would end this process. `decodeOutside` has listeners of its own.
  child.on("error", () => undefined);
  return child;
}

function giveBack(child: ChildProcess): void {
  const timer = setTimeout(() => {
    idle.delete(child);
    if (child.connected) child.disconnect();
  }, maxIdleMs);
  idle.set(child, timer);
  // Neither keeps this process running.
  timer.unref();
  child.unref();
  child.channel?.unref();
}

const tooLong = "The picture takes too long to decode. Reduce its size, and export it again.";
/** Of what the decoder has done with the picture. Any other signal comes from outside, and says nothing about it. */
const crashes: ReadonlySet<NodeJS.Signals | null> = new Set(["SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE"]);

/**
 * Decodes a picture in another process, which ends if it takes more CPU time or memory than any picture that someone would send. Any error
 * but an `UnusablePictureError` says nothing about the picture.
 */
export async function decodeOutside(task: DecodingTask): Promise<Picture> {
  const reused = takeIdle();
  if (reused === undefined) return runTask(startProcess(), task);
  return runTask(reused, task).catch((error: unknown) => {
    if (error instanceof UnusablePictureError) throw error;
    // It may have died while it was idle.
    return runTask(startProcess(), task);
  });
}

async function runTask(child: ChildProcess, task: DecodingTask): Promise<Picture> {
  child.ref();
  child.channel?.ref();
  const ended = new AbortController();
  const { signal } = ended;
  let isTooLong = false;
  const timer = setTimeout(() => {
    isTooLong = true;
    child.kill("SIGKILL");
  }, maxMs);
  const exited = once(child, "exit", { signal }).then(([code, by]): never => {
    if (isTooLong) throw new UnusablePictureError(tooLong);
    if (crashes.has(by as NodeJS.Signals | null)) {
      throw new UnusablePictureError("The picture can't be decoded. Export it again.");
    }
    throw new Error(`the process that decodes pictures has ended: ${by ?? code}`);
  });
  try {
    child.send(task);
    const responded = once(child, "message", { signal }).then(([message]) => message as DecodingOutcome);
    const outcome = await Promise.race([responded, exited]);
    if ("picture" in outcome) {
      giveBack(child);
      return outcome.picture;
    }
    if (outcome.ends !== true) giveBack(child);
    throw new UnusablePictureError(outcome.unusable);
  } finally {
    clearTimeout(timer);
    ended.abort();
    exited.catch(() => undefined);
  }
}
