import { readFile } from "node:fs/promises";
import pg from "pg";
import { Client as UndiciClient } from "undici";

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Returns a function that tells which share of the CPU time a virtual machine's host has given to others since. */
export async function startStolenTime(): Promise<() => Promise<number>> {
  const read = async (): Promise<{ all: number; stolen: number }> => {
    const [, ...times] = (await readFile("/proc/stat", "utf8")).split("\n", 1)[0]?.split(/ +/).map(Number) ?? [];
    return { all: times.slice(0, 8).reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 };
  };
  const before = await read();
  return async () => {
    const after = await read();
    return (after.stolen - before.stolen) / (after.all - before.all);
  };
}

export const median = (values: number[]): number => percentile(values, 0.5);

interface BenchResponse {
  status: number;
  body: Buffer;
}

/** An HTTP client with one connection. It uses undici's `Client`, which takes the least CPU from the measured process. */
export class Client {
  readonly #client: UndiciClient;

  constructor(url: string) {
    this.#client = new UndiciClient(new URL(url).origin);
  }

  get(url: string, token?: string, extraHeaders: Record<string, string> = {}): Promise<BenchResponse> {
    return this.#send("GET", url, token, extraHeaders);
  }

  post(
    url: string,
    token: string,
    body: object | undefined,
    extraHeaders: Record<string, string> = {},
  ): Promise<BenchResponse> {
    return this.#send("POST", url, token, extraHeaders, body && JSON.stringify(body));
  }

  async #send(
    method: "GET" | "POST",
    url: string,
    token: string | undefined,
    extraHeaders: Record<string, string>,
    json?: string,
  ): Promise<BenchResponse> {
    const { pathname, search } = new URL(url);
    const headers = {
      ...extraHeaders,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { "content-type": "application/json" }),
    };
    const sent = json === undefined ? {} : { body: json };
    const { statusCode, body } = await this.#client.request({ method, path: pathname + search, headers, ...sent });
    return { status: statusCode, body: Buffer.from(await body.arrayBuffer()) };
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

/** Sends requests sequentially and returns the time of each in milliseconds. */
export async function latencies(urls: string[], token?: string): Promise<number[]> {
  const client = new Client(urls[0] ?? "");
  const times: number[] = [];
  for (const url of urls) {
    const began = performance.now();
    const { status } = await client.get(url, token);
    times.push(performance.now() - began);
    if (status !== 200) throw new Error(`${status} for ${url}`);
  }
  await client.close();
  return times;
}

/** Runs `work` on concurrent clients without pauses and returns the completed calls per second. */
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

/** Opens the connections of the bare reference. */
export function connect(url: string, count: number): Promise<pg.Client[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const connection = new pg.Client({ connectionString: url });
      await connection.connect();
      return connection;
    }),
  );
}
