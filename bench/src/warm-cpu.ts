import autocannon from "autocannon";
import type { Figure } from "./figures.ts";
import { Client, median } from "./measure.ts";
import { type BareTokens, type BenchServer, startBare } from "./servers.ts";

const connections = 20;
export const requestsPerRound = 20_000;
const rounds = 7;
const warmUpRounds = 3;

/** Returns pairs of what `ours` and `reference` measure, in alternating rounds, after some that don't count. */
export async function alternate(
  ours: () => Promise<number>,
  reference: () => Promise<number>,
): Promise<{ ours: number; reference: number }[]> {
  const pairs: { ours: number; reference: number }[] = [];
  // V8 keeps optimising for tens of thousands of requests.
  for (let round = 0; round < warmUpRounds + rounds; round += 1) {
    pairs.push({ ours: await ours(), reference: await reference() });
  }
  return pairs.slice(warmUpRounds);
}

/** The CPU time of the server for each of many concurrent requests, in microseconds. */
export async function cpuPerRequest(
  server: BenchServer,
  path: string,
  headers: Record<string, string>,
  requests = requestsPerRound,
): Promise<number> {
  const before = await server.cpu();
  const result = await autocannon({ url: `${server.url}${path}`, connections, amount: requests, headers });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} non-2xx responses, ${result.errors} errors`);
  return ((await server.cpu()) - before) / requests;
}

/** Measures the CPU time per request of a warm server, against a bare Fastify that sends the same bytes. */
export async function warmCpu(
  ours: BenchServer,
  given: { paths: Record<string, string>; atLeast?: number; token?: string; tokens?: BareTokens },
): Promise<Figure[]> {
  const { token } = given;
  const client = new Client(ours.url);
  const bodies: Record<string, Buffer> = {};
  for (const path of Object.values(given.paths)) {
    bodies[path] = (await client.get(`${ours.url}${path}`, token)).body;
  }
  await client.close();
  const bare = await startBare(bodies, given.tokens);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const figures: Figure[] = [];
  for (const [name, path] of Object.entries(given.paths)) {
    const pairs = await alternate(
      () => cpuPerRequest(ours, path, headers),
      () => cpuPerRequest(bare, path, headers),
    );
    figures.push({
      name: `1 warm, CPU per request: ${name}`,
      measured: `${median(pairs.map((pair) => pair.ours)).toFixed(1)} µs`,
      reference: `${median(pairs.map((pair) => pair.reference)).toFixed(1)} µs (${bodies[path]?.length} bytes)`,
      value: median(pairs.map((pair) => pair.reference / pair.ours)),
      ...(given.atLeast !== undefined && { goal: { atLeast: given.atLeast } }),
    });
  }
  await bare.stop();
  return figures;
}
