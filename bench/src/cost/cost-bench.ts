import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "@ehr-marketplace/dev/command-line";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { startCluster } from "@ehr-marketplace/dev/postgres";
import { usage } from "../command-usage.ts";
import type { Figure } from "../figures.ts";
import { type Cost, measureCost } from "./measure-cost.ts";
import { printCosts, printStatements } from "./print-costs.ts";

/** The last one has to be sustained for longer. */
const scenarios = {
  "100": { perSecond: 100, withEhr: false },
  "100-ehr": { perSecond: 100, withEhr: true },
  "200": { perSecond: 200, withEhr: false },
  "200-ehr": { perSecond: 200, withEhr: true },
  "250": { perSecond: 250, withEhr: false },
};

/** Runs on a throwaway cluster with PostgreSQL's default settings and `pg_stat_statements`; the bench's process sends the requests. */
export async function costBench(options: string[]): Promise<Figure[]> {
  const { values } = readArguments(usage, {
    args: options,
    options: {
      seconds: { type: "string", default: "20" },
      "sustained-seconds": { type: "string", default: "60" },
      scenarios: { type: "string", default: Object.keys(scenarios).join() },
      profiles: { type: "string" },
    },
  });
  const selected = new Set(values.scenarios.split(","));
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-"));
  const cluster = await startCluster({
    directory,
    throwaway: true,
    settings: {
      max_connections: "300",
      shared_preload_libraries: "pg_stat_statements",
      "pg_stat_statements.track_planning": "on",
    },
  });
  const issuer = await startIdentityProvider({ port: 0 });
  const [postmaster] = (await readFile(join(directory, "postmaster.pid"), "utf8")).split("\n");
  const system = { clusterUrl: cluster.url, postmasterPid: Number(postmaster), issuer, profiles: values.profiles };
  try {
    const costs: Cost[] = [];
    for (const [name, scenario] of Object.entries(scenarios)) {
      const seconds = Number(name === "250" ? values["sustained-seconds"] : values.seconds);
      if (selected.has(name)) costs.push(await measureCost(system, { ...scenario, seconds }));
    }
    printCosts(costs);
    const printed = costs.findLast(({ withEhr }) => !withEhr);
    if (printed !== undefined) printStatements(printed);
    return costs.filter(({ withEhr }) => !withEhr).map(toFigure);
  } finally {
    await issuer.stop();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

function toFigure({ perSecond, seconds, cpuMs, bareCpuMs, latency, refused }: Cost): Figure {
  if (perSecond === scenarios["250"].perSecond) {
    return {
      name: `2 response to arrival, p95 at ${perSecond} changes a second for ${seconds} s, ${refused} refused`,
      measured: `${latency.p95.toFixed(1)} ms`,
      reference: "",
      value: refused === 0 ? latency.p95 : Number.POSITIVE_INFINITY,
      goal: { atMost: 50 },
    };
  }
  const total = cpuMs.api + cpuMs.worker + cpuMs.postgres;
  return {
    name: `1 CPU for a change with one delivery, at ${perSecond} a second, ${refused} refused`,
    measured: `${total.toFixed(1)} ms`,
    reference: `${bareCpuMs.toFixed(2)} ms for a bare insert`,
    value: total,
    goal: { atMost: 6 },
  };
}
