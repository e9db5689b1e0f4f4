import type { Figure } from "../figures.ts";
import { latencies, percentile } from "../measure.ts";
import { startApi } from "../servers.ts";

const requests = 300;
const sorts = ["name", "category", "publishedAt", "updatedAt", "popularity,desc"];

/** Without the cache, one client. The goal is for the default sort; the reference shows the slowest sort. */
export async function pageLatency(serviceUrl: string, apps: number): Promise<Figure[]> {
  const api = await startApi(serviceUrl, { CATALOG_CACHE_SECONDS: "0" });
  const deep = Math.floor((apps * 0.8) / 20);
  const figures: Figure[] = [];
  for (const [page, atMost] of [
    [0, 5],
    [deep, 30],
  ] as const) {
    const p95s: { sort: string; p95: number }[] = [];
    for (const sort of sorts) {
      const urls = Array.from({ length: requests }, () => `${api.url}/apps?page=${page}&sort=${sort}`);
      await latencies(urls.slice(0, 20));
      p95s.push({ sort, p95: percentile(await latencies(urls), 0.95) });
    }
    const slowest = p95s.toSorted((a, b) => b.p95 - a.p95)[0];
    const value = p95s[0]?.p95 ?? Number.NaN;
    figures.push({
      name: `4 cache off, page ${page} p95, ms`,
      measured: `${value.toFixed(1)} ms`,
      reference: `slowest sort: ${slowest?.sort} ${slowest?.p95.toFixed(1)} ms`,
      value,
      goal: { atMost },
    });
  }
  await api.stop();
  return figures;
}
