import { readFile } from "node:fs/promises";

/** The kernel counts CPU time in ticks of 10 ms: USER_HZ is 100 on all Linux platforms that Node supports. */
const msPerTick = 10;

interface ProcessTimes {
  ownMs: number;
  /** The time of its children that have ended. */
  endedChildrenMs: number;
}

async function readTimes(pid: number): Promise<ProcessTimes> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The name, in parentheses, may contain spaces; the fields are numbered from 1, and the third follows the name.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const field = (number: number): number => Number(fields[number - 3]);
  return { ownMs: (field(14) + field(15)) * msPerTick, endedChildrenMs: (field(16) + field(17)) * msPerTick };
}

export async function readProcessCpuMs(pid: number): Promise<number> {
  return (await readTimes(pid)).ownMs;
}

/** The time of all of PostgreSQL's processes: its backends, those that have ended, and those that write WAL and pages. */
export async function readPostgresCpuMs(postmasterPid: number): Promise<number> {
  const children = await readFile(`/proc/${postmasterPid}/task/${postmasterPid}/children`, "utf8");
  const pids = children.trim().split(" ").map(Number);
  const { ownMs, endedChildrenMs } = await readTimes(postmasterPid);
  const running = await Promise.all(pids.map((pid) => readTimes(pid).catch(() => undefined)));
  return running.reduce((sum, each) => sum + (each?.ownMs ?? 0), ownMs + endedChildrenMs);
}
