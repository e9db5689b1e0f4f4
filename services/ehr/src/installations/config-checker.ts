import { fileURLToPath } from "node:url";
import { MessageChannel, type Worker } from "node:worker_threads";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { Piscina } from "piscina";
import type { CheckResult, CheckTask } from "./check-config.worker.ts";
import type { Config } from "./config-values.ts";
import { installationProblems } from "./installation-errors.ts";

export interface ConfigChecker {
  check(orgAlias: string, schema: string, config: Config): Promise<CheckResult>;
  stop(): Promise<void>;
}

const mostWaiting = 100;
const mostWaitingOfOne = 10;
/** Of the thread's own processor time: on a busy machine an honest schema isn't refused because others are at work. */
const mostProcessorMs = 1_000;
const longestCheckMs = 4_000;
/** Whoever has waited for so long has been given up by now, or soon will be. */
const longestWaitMs = 4_000;
const lookEveryMs = 100;

/**
 * Schemas are other people's programs. They run in a thread of their own, with little memory and little time: one that takes more
 * loses its thread, and nobody else notices.
 */
export function createConfigChecker(logger: Logger): ConfigChecker {
  const pool = new Piscina<CheckTask, CheckResult>({
    filename: fileURLToPath(new URL("./check-config.worker.ts", import.meta.url)),
    minThreads: 0,
    // One, so that a machine with two processors keeps one for requests.
    maxThreads: 1,
    maxQueue: mostWaiting,
    idleTimeout: 60_000,
    resourceLimits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    // What the process is configured with is none of a schema's business.
    env: {},
    execArgv: [],
  });
  // A thread may run out of memory while it is being ended. Nobody waits for it then, and an error that nobody hears ends the process.
  pool.on("error", (error) => logger.warn({ err: error }, "a thread that checked a configuration ended by itself"));
  const takeTurns = turnsByOrganisation();
  return {
    check: (orgAlias, schema, config) => takeTurns(orgAlias, () => checkWith(pool, schema, config)),
    stop: () => pool.destroy(),
  };
}

/** An organisation's checks go one by one, so that it has at most one in front of everybody else's. */
function turnsByOrganisation() {
  const waiting = new Map<string, { count: number; last: Promise<unknown> }>();
  return async <T>(orgAlias: string, work: () => Promise<T>): Promise<T> => {
    const line = waiting.get(orgAlias) ?? { count: 0, last: Promise.resolve() };
    if (line.count >= mostWaitingOfOne) throw busy();
    const asked = performance.now();
    const whenInTime = (): Promise<T> => {
      if (performance.now() - asked > longestWaitMs) throw busy();
      return work();
    };
    const turn = line.last.then(whenInTime, whenInTime);
    waiting.set(orgAlias, { count: line.count + 1, last: turn });
    try {
      return await turn;
    } finally {
      const { count = 1, last = turn } = waiting.get(orgAlias) ?? {};
      if (count === 1) waiting.delete(orgAlias);
      else waiting.set(orgAlias, { count: count - 1, last });
    }
  };
}

async function checkWith(pool: Piscina<CheckTask, CheckResult>, schema: string, config: Config): Promise<CheckResult> {
  const given = new AbortController();
  let timer = setTimeout(() => given.abort(), longestWaitMs);
  const { port1, port2 } = new MessageChannel();
  let watching: NodeJS.Timeout | undefined;
  port1.once("message", () => {
    clearTimeout(timer);
    timer = setTimeout(() => given.abort(), longestCheckMs);
    watching = endWhenUsedUp(pool.threads[0], given);
  });
  try {
    return await pool.run({ schema, config, begun: port2 }, { signal: given.signal, transferList: [port2] });
  } catch (error) {
    if (watching !== undefined) return { kind: "unusable", why: "checking takes more time or memory than it is given" };
    throw busy(error);
  } finally {
    clearTimeout(timer);
    clearInterval(watching);
    port1.close();
  }
}

function endWhenUsedUp(thread: Worker | undefined, given: AbortController): NodeJS.Timeout {
  // A thread that is gone has nothing more to say.
  const before = thread?.cpuUsage().catch(() => undefined);
  const look = async (): Promise<void> => {
    const used = await thread?.cpuUsage(await before);
    if (used !== undefined && used.user + used.system > mostProcessorMs * 1_000) given.abort();
  };
  return setInterval(() => void look().catch(() => undefined), lookEveryMs);
}

const busy = (cause?: unknown): Problem =>
  new Problem(installationProblems.busy, "Too many configurations are being checked at the moment.", {
    headers: { "retry-after": "2" },
    cause,
  });
