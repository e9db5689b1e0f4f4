import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pretty from "pino-pretty";
import { stopProcess } from "../stop-process.ts";
import { logMessage } from "./log-message.ts";

export interface ServiceOptions {
  name: string;
  entry: string;
  environment: Record<string, string>;
  readyUrl: string;
  /** Where a debugger can attach to it. */
  inspectPort?: number | undefined;
  /** When it is aborted before the service is ready, the service is stopped. */
  signal?: AbortSignal;
}

export interface ServiceProcess {
  stop(): Promise<void>;
}

/** For a busy machine: usually it takes a few seconds. */
const readyTimeoutMs = 120_000;

async function waitUntilReady(child: ChildProcess, options: ServiceOptions): Promise<void> {
  const deadline = Date.now() + readyTimeoutMs;
  while (Date.now() < deadline) {
    options.signal?.throwIfAborted();
    if (child.exitCode !== null) throw new Error(`${options.name} ended before it was ready; its output is above.`);
    const response = await fetch(options.readyUrl).catch(() => undefined);
    if (response?.ok === true) return;
    await delay(100);
  }
  throw new Error(`${options.name} was not ready within ${readyTimeoutMs / 1000} s: ${options.readyUrl}`);
}

export async function startService(options: ServiceOptions): Promise<ServiceProcess> {
  const serviceArguments = [options.entry, ...(options.inspectPort === undefined ? [] : [String(options.inspectPort)])];
  const child = fork(join(import.meta.dirname, "watched-service.process.ts"), serviceArguments, {
    env: { ...process.env, ...options.environment },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    execArgv: [],
    // Detached, because Ctrl+C reaches the whole process group of a terminal and the stack stops each service itself.
    detached: true,
  });
  child.stdout?.pipe(
    pretty({
      singleLine: true,
      colorize: process.stdout.isTTY,
      ignore: "pid,hostname,service",
      translateTime: "SYS:HH:MM:ss",
      messageFormat: (line) => logMessage(options.name, line),
    }),
  );
  try {
    await waitUntilReady(child, options);
    // From now on the process waits for a correction when the service ends.
    child.send("ready");
  } catch (error) {
    await stopProcess(child);
    throw error;
  }
  return { stop: () => stopProcess(child) };
}
