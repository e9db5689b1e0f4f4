import { Agent, get } from "node:http";

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: number[]): number => percentile(values, 0.5);

export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  get(url: string): Promise<{ status: number; body: Buffer }> {
    return new Promise((resolve, reject) => {
      get(url, { agent: this.#agent }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks) }));
        answer.on("error", reject);
      }).on("error", reject);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** One request after the other: the time of each, in milliseconds. */
export async function latencies(urls: string[]): Promise<number[]> {
  const client = new Client();
  const times: number[] = [];
  for (const url of urls) {
    const began = performance.now();
    const { status } = await client.get(url);
    times.push(performance.now() - began);
    if (status !== 200) throw new Error(`${status} for ${url}`);
  }
  client.close();
  return times;
}

/** So many clients, each asking as fast as it is answered: work done per second. */
export async function throughput(
  clients: number,
  seconds: number,
  work: (client: number) => Promise<unknown>,
): Promise<number> {
  const until = performance.now() + seconds * 1_000;
  let done = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      while (performance.now() < until) {
        await work(client);
        done += 1;
      }
    }),
  );
  return done / ((performance.now() - began) / 1_000);
}
