import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { stopProcess } from "@ehr-marketplace/dev/stop-process";

export interface BenchReceiver {
  url: string;
  /** When each request came since the last time, by the id that it carried. */
  arrivals(): Promise<Map<string, number>>;
  count(): Promise<number>;
  stop(): Promise<void>;
}

async function asked<T>(child: ChildProcess, question: string): Promise<T> {
  const answer = once(child, "message");
  child.send(question);
  const [told] = (await answer) as [T];
  return told;
}

export async function startBenchReceiver(delayMs = 0): Promise<BenchReceiver> {
  const child = fork(new URL("./receiver.process.ts", import.meta.url).pathname, [String(delayMs)]);
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}`,
    arrivals: async () => new Map((await asked<{ arrivals: [string, number][] }>(child, "arrivals")).arrivals),
    count: async () => (await asked<{ count: number }>(child, "count")).count,
    stop: () => stopProcess(child),
  };
}
