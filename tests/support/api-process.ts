import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { marketplaceEnvironment } from "@ehr-marketplace/dev/marketplace-environment";
import type { CleanUp } from "./clean-up.ts";
import { eventually } from "./eventually.ts";

export interface ApiProcess {
  url: string;
  child: ChildProcess;
  /** What the process has logged so far, parsed. */
  logged: Record<string, unknown>[];
  ready(): Promise<boolean>;
  /** Resolves to the exit code once the process has gone. */
  ended: Promise<number | null>;
}

const entry = new URL("../../services/marketplace/src/api.ts", import.meta.url).pathname;

/** The API as it runs in production: a process of its own, which a test may kill. */
export async function startApiProcess(
  cleanUp: CleanUp,
  databaseUrl: string,
  options: { environment?: Record<string, string>; nodeOptions?: string[] } = {},
): Promise<ApiProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [...(options.nodeOptions ?? []), entry], {
    env: {
      ...marketplaceEnvironment(databaseUrl),
      PATH: process.env["PATH"],
      NODE_ENV: "test",
      HOST: "127.0.0.1",
      MARKETPLACE_PORT: String(port),
      CALLER_REQUESTS_PER_MINUTE: "100000000",
      PUBLIC_REQUESTS_PER_MINUTE: "100000000",
      ...options.environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const logged: Record<string, unknown>[] = [];
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) logged.push(JSON.parse(line) as Record<string, unknown>);
  });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  cleanUp(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const ready = async (): Promise<boolean> =>
    (await fetch(`${url}/health/ready`).catch(() => undefined))?.status === 200;
  await eventually("the API is ready", 30_000, ready);
  return { url, child, logged, ready, ended };
}
