import type { TokenIssuer } from "@ehr-marketplace/dev/service-environments";
import type { Figure } from "../figures.ts";
import { Client, median, percentile } from "../measure.ts";
import { type BenchServer, startEhr } from "../servers.ts";

const requests = 400;
const rounds = 5;

export interface SizedDatabase {
  serviceUrl: string;
  organisations: number;
}

export interface ColdRead {
  name: string;
  token: string;
  /** The request that reads an organisation. */
  request: (alias: string) => { path: string; headers?: Record<string, string> };
}

/** Returns different organisations in random order, so that each read is the first one of its organisation. */
function shuffled(organisations: number): string[] {
  return Array.from({ length: Math.min(organisations, 2_500) }, (_, nth) => {
    const step = Math.floor(organisations / Math.min(organisations, 2_500));
    return { alias: `clinic-${nth * step + 1}`, order: Math.random() };
  })
    .toSorted((a, b) => a.order - b.order)
    .map(({ alias }) => alias);
}

/** Measures the p95 of reading an organisation that the process has not read before, alternating few and many installations. */
export async function coldReads(
  { small, large }: { small: SizedDatabase; large: SizedDatabase },
  issuer: TokenIssuer,
  { name, token, request }: ColdRead,
): Promise<Figure[]> {
  const few = await startEhr(small.serviceUrl, { issuer });
  const many = await startEhr(large.serviceUrl, { issuer });
  const fresh = new Map([
    [few, shuffled(small.organisations)],
    [many, shuffled(large.organisations)],
  ]);
  const p95 = async (server: BenchServer): Promise<number> => {
    const client = new Client(server.url);
    const times: number[] = [];
    for (const alias of fresh.get(server)?.splice(0, requests) ?? []) {
      const { path, headers } = request(alias);
      const began = performance.now();
      const { status } = await client.get(`${server.url}${path}`, token, headers);
      times.push(performance.now() - began);
      if (status !== 200) throw new Error(`${status} for ${alias}`);
    }
    await client.close();
    return percentile(times, 0.95);
  };
  await p95(few);
  await p95(many);
  const pairs: { few: number; many: number }[] = [];
  for (let round = 0; round < rounds; round += 1) pairs.push({ few: await p95(few), many: await p95(many) });
  await few.stop();
  await many.stop();
  return [
    {
      name: `2 ${name}, p95, ${(large.organisations * 4).toLocaleString("en")} installations`,
      measured: `${median(pairs.map((pair) => pair.many)).toFixed(2)} ms`,
      reference: `${median(pairs.map((pair) => pair.few)).toFixed(2)} ms at ${(small.organisations * 4).toLocaleString("en")}`,
      value: median(pairs.map((pair) => pair.many / pair.few)),
      goal: { atMost: 1.5 },
    },
  ];
}
