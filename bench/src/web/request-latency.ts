import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "undici";
import type { Figure } from "../figures.ts";
import { Client, percentile } from "../measure.ts";
import type { StorefrontServers } from "./storefront-servers.ts";

const perSecond = 200;
const warmUpSeconds = 5;
/** More than are ever needed at this rate, so that no request waits for another one. */
const connections = 100;

interface Load {
  url: string;
  seconds: number;
  /** The path of the nth request. */
  pathOf: (nth: number) => string;
}

/**
 * Sends requests as independent readers do: at random times, whether or not earlier ones have been responded to. A latency is counted
 * from when the request was due, so that a generator that is late can't hide it.
 */
async function latenciesUnderLoad({ url, seconds, pathOf }: Load): Promise<number[]> {
  const pool = new Pool(url, { connections });
  const latencies: number[] = [];
  const send = async (path: string, due: number): Promise<void> => {
    const { statusCode, body } = await pool.request({ method: "GET", path, headers: { "accept-encoding": "br" } });
    await body.arrayBuffer();
    if (statusCode !== 200) throw new Error(`${statusCode} for ${path}`);
    latencies.push(performance.now() - due);
  };
  const pending: Promise<void>[] = [];
  const began = performance.now();
  let due = began;
  for (let nth = 0; due < began + seconds * 1_000; nth += 1) {
    const wait = due - performance.now();
    if (wait > 0) await delay(wait);
    pending.push(send(pathOf(nth), due));
    due += (-Math.log(1 - Math.random()) * 1_000) / perSecond;
  }
  await Promise.all(pending);
  await pool.close();
  return latencies;
}

async function listSlugs({ api }: StorefrontServers): Promise<string[]> {
  const client = new Client(api.url);
  const { body } = await client.get(`${api.url}/apps?size=100`);
  await client.close();
  const { content } = JSON.parse(body.toString()) as { content: { slug: string }[] };
  return content.map(({ slug }) => slug);
}

/** Measures the latency of the home page, and of the pages of all demo apps in turn. */
export async function requestLatency(servers: StorefrontServers, seconds: number): Promise<Figure[]> {
  const slugs = await listSlugs(servers);
  const { url } = servers.web;
  const figures: Figure[] = [];
  for (const [name, pathOf] of [
    ["home", () => "/"],
    [`pages of ${slugs.length} apps`, (nth: number) => `/apps/${slugs[nth % slugs.length]}`],
  ] as const) {
    await latenciesUnderLoad({ url, seconds: Math.min(warmUpSeconds, seconds), pathOf });
    const latencies = await latenciesUnderLoad({ url, seconds, pathOf });
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(latencies, share)) as [number, number, number];
    figures.push({
      name: `1 ${name}, p95 in ms at ${perSecond} requests a second for ${seconds} s`,
      measured: `${p95.toFixed(1)} ms (p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)})`,
      reference: "",
      value: p95,
      goal: { atMost: 25 },
    });
  }
  return figures;
}
