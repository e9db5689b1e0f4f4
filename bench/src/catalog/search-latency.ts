import type { Figure } from "../figures.ts";
import { latencies, percentile } from "../measure.ts";
import { startApi } from "../servers.ts";
import { searchQueries } from "./search-queries.ts";

const queries = 3_000;
const seed = 20_261_114;

async function searchP95(serviceUrl: string): Promise<number> {
  const api = await startApi(serviceUrl);
  const samples: { name: string; summary: string }[] = [];
  for (const page of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) {
    const response = await fetch(`${api.url}/apps?size=100&sort=updatedAt&page=${page}`);
    samples.push(...((await response.json()) as { content: typeof samples }).content);
  }
  const urls = searchQueries(samples, queries, seed).map(
    (query) => `${api.url}/apps/search?q=${encodeURIComponent(query)}`,
  );
  // Prepare the statements on every connection of the pool first, because a process does that only once.
  await Promise.all(Array.from({ length: 10 }, (_, index) => fetch(`${api.url}/apps/search?q=warm%20${index}`)));
  const times = await latencies(urls);
  await api.stop();
  return percentile(times, 0.95);
}

export async function searchLatency(large: string, small: string, apps: number): Promise<Figure[]> {
  const few = await searchP95(small);
  const many = await searchP95(large);
  return [
    {
      name: `3 search p95, ${apps} apps`,
      measured: `${many.toFixed(1)} ms`,
      reference: "",
      value: many,
      goal: { atMost: 40 },
    },
    {
      name: `3 search p95, ${apps} apps against 1000`,
      measured: `${many.toFixed(1)} ms`,
      reference: `${few.toFixed(1)} ms at 1000 apps`,
      value: many / few,
      goal: { atMost: 3 },
    },
  ];
}
