import type { Figure } from "../figures.ts";
import { Client, connect, median, throughput } from "../measure.ts";
import { recordStatements } from "../recorded-statements.ts";
import { startApi } from "../servers.ts";

const clients = 10;
const seconds = 4;
const rounds = 3;

/** Measures requests per second without the cache, against the same SQL through `pg` with as many clients. */
export async function coldThroughput(serviceUrl: string, paths: Record<string, string>): Promise<Figure[]> {
  const urls = Object.values(paths).map((path) => ({ url: `/api/v1${path}` }));
  const recorded = await recordStatements(serviceUrl, urls);
  const api = await startApi(serviceUrl, { CATALOG_CACHE_SECONDS: "0", DATABASE_POOL_SIZE: String(clients) });
  const httpClients = Array.from({ length: clients }, () => new Client(api.url));
  const connections = await connect(serviceUrl, clients);
  const figures: Figure[] = [];
  for (const [nth, [name, path]] of Object.entries(paths).entries()) {
    const statement = recorded[nth]?.at(-1);
    if (statement === undefined) throw new Error(`no statement was recorded for ${path}`);
    const sendGet = (client: number): Promise<unknown> =>
      httpClients[client]?.get(`${api.url}${path}`) ?? Promise.reject();
    const query = (client: number): Promise<unknown> =>
      connections[client]?.query(statement.text, statement.values) ?? Promise.reject();
    await throughput(clients, 1, sendGet);
    await throughput(clients, 1, query);
    const pairs: { ours: number; bare: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      pairs.push({
        ours: await throughput(clients, seconds, sendGet),
        bare: await throughput(clients, seconds, query),
      });
    }
    figures.push({
      name: `2 cache off, per second: ${name}`,
      measured: `${median(pairs.map((pair) => pair.ours)).toFixed(0)}/s`,
      reference: `${median(pairs.map((pair) => pair.bare)).toFixed(0)}/s by pg alone`,
      value: median(pairs.map((pair) => pair.ours / pair.bare)),
      goal: { atLeast: 0.6 },
    });
  }
  await Promise.all(httpClients.map((client) => client.close()));
  await Promise.all(connections.map((connection) => connection.end()));
  await api.stop();
  return figures;
}
