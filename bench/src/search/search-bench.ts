import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "@ehr-marketplace/dev/command-line";
import { loadDemoData } from "@ehr-marketplace/dev/demo-data";
import { prepareMarketplaceDatabase, startCluster } from "@ehr-marketplace/dev/postgres";
import {
  type JudgedQuery,
  measureRelevance,
  type Relevance,
  reportedQueries,
  tuningQueries,
} from "@ehr-marketplace/dev/search-relevance";
import { usage } from "../command-usage.ts";
import type { Figure } from "../figures.ts";
import { startApi } from "../servers.ts";

const goals = { success: 0.92, mrr: 0.88 };

/** Measures the relevance of search on the demo catalog. `--queries FILE` measures a JSON file of judged queries instead. */
export async function searchBench(options: string[]): Promise<Figure[]> {
  const { values } = readArguments(usage, { args: options, options: { queries: { type: "string" } } });
  const sets = await readSets(values.queries);
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-"));
  const cluster = await startCluster({ directory: join(directory, "postgres"), throwaway: true });
  try {
    const database = await prepareMarketplaceDatabase(cluster.url, "bench_search");
    const url = "https://marketplace.example";
    await loadDemoData(database.ownerUrl, {
      publicUrl: url,
      demoAppUrl: url,
      ehrUrl: url,
      mediaDirectory: join(directory, "media"),
    });
    const api = await startApi(database.serviceUrl);
    const search = async (query: string): Promise<string[]> => {
      const response = await fetch(`${api.url}/apps/search?q=${encodeURIComponent(query)}`);
      return ((await response.json()) as { slug: string }[]).map(({ slug }) => slug);
    };
    const figures: Figure[] = [];
    for (const [name, queries] of Object.entries(sets)) {
      const relevance = await measureRelevance(queries, search);
      printMissed(name, relevance);
      figures.push(...toFigures(name, queries.length, relevance));
    }
    await api.stop();
    return figures;
  } finally {
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function readSets(file: string | undefined): Promise<Record<string, JudgedQuery[]>> {
  if (file === undefined) return { "tuned on": tuningQueries, reported: reportedQueries };
  return { [file]: JSON.parse(await readFile(file, "utf8")) as JudgedQuery[] };
}

function printMissed(name: string, { missed, byKind }: Relevance): void {
  console.error(`\n${name}, success@3 by kind:`);
  for (const [kind, success] of byKind) console.error(`  ${kind.padEnd(13)} ${success.toFixed(2)}`);
  for (const { query, found } of missed) console.error(`  missed: "${query}" shows ${found.join(", ") || "nothing"}`);
}

function toFigures(name: string, count: number, { success, mrr }: Relevance): Figure[] {
  const figure = (what: string, value: number, goal: number): Figure => ({
    name: `${what}, ${count} queries ${name}`,
    measured: value.toFixed(3),
    reference: "",
    value,
    goal: { atLeast: goal },
  });
  return [figure("success@3", success, goals.success), figure("MRR", mrr, goals.mrr)];
}
