import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { stopProcess } from "@ehr-marketplace/dev/stop-process";

export interface BenchReceiver {
  url: string;
  /** Returns the arrival times since the last call, by delivery id. */
  arrivals(): Promise<Map<string, number>>;
  count(): Promise<number>;
  stop(): Promise<void>;
}

async function query<T>(child: ChildProcess, name: string): Promise<T> {
  const message = once(child, "message");
  child.send(name);
  const [result] = (await message) as [T];
  return result;
}

export async function startBenchReceiver(delayMs = 0): Promise<BenchReceiver> {
  const child = fork(new URL("./receiver.process.ts", import.meta.url).pathname, [String(delayMs)]);
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}`,
    arrivals: async () => new Map((await query<{ arrivals: [string, number][] }>(child, "arrivals")).arrivals),
    count: async () => (await query<{ count: number }>(child, "count")).count,
    stop: () => stopProcess(child),
  };
}
