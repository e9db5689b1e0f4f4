import { marketplaceEnvironment } from "@ehr-marketplace/dev/marketplace-environment";
import { createApp } from "@ehr-marketplace/marketplace/app";
import { readConfig } from "@ehr-marketplace/marketplace/config";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import pg from "pg";
import type { Figure } from "../figures.ts";
import { Client, median, throughput } from "../measure.ts";
import { startApi } from "../servers.ts";

interface Statement {
  text: string;
  values: unknown[];
}

const clients = 10;
const seconds = 4;
const rounds = 3;

/** What the service itself asks the database for a path: taken down as it asks. */
async function statementsOf(serviceUrl: string, paths: string[]): Promise<Map<string, Statement>> {
  const config = readConfig({
    ...marketplaceEnvironment(serviceUrl),
    NODE_ENV: "test",
    CATALOG_CACHE_SECONDS: "0",
  });
  const app = await createApp(config, createLogger({ service: "bench", level: "silent" }));
  await app.server.inject("/health/ready");
  const statements = new Map<string, Statement>();
  let asked: string | undefined;
  // oxlint-disable-next-line typescript/unbound-method -- the proxy passes `this` on
  pg.Client.prototype.query = new Proxy(pg.Client.prototype.query, {
    apply(query, client, given: unknown[]) {
      const [text, values] = given;
      if (asked !== undefined && typeof text === "string" && text.includes("app_listings")) {
        statements.set(asked, { text, values: values as unknown[] });
      }
      return Reflect.apply(query, client, given) as unknown;
    },
  });
  for (const path of paths) {
    asked = path;
    await app.server.inject(`/api/v1${path}`);
  }
  asked = undefined;
  await app.server.close();
  await app.stop();
  return statements;
}

/** Cache off: requests per second, against the same SQL through `pg` alone by as many clients. */
export async function coldThroughput(serviceUrl: string, paths: Record<string, string>): Promise<Figure[]> {
  const statements = await statementsOf(serviceUrl, Object.values(paths));
  const api = await startApi(serviceUrl, { CATALOG_CACHE_SECONDS: "0", DATABASE_POOL_SIZE: String(clients) });
  const askers = Array.from({ length: clients }, () => new Client(api.url));
  const connections = await Promise.all(
    Array.from({ length: clients }, async () => {
      const connection = new pg.Client({ connectionString: serviceUrl });
      await connection.connect();
      return connection;
    }),
  );
  const figures: Figure[] = [];
  for (const [name, path] of Object.entries(paths)) {
    const statement = statements.get(path);
    if (statement === undefined) throw new Error(`no statement was taken down for ${path}`);
    const ask = (client: number): Promise<unknown> => askers[client]?.get(`${api.url}${path}`) ?? Promise.reject();
    const query = (client: number): Promise<unknown> =>
      connections[client]?.query(statement.text, statement.values) ?? Promise.reject();
    await throughput(clients, 1, ask);
    await throughput(clients, 1, query);
    const pairs: { ours: number; bare: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      pairs.push({ ours: await throughput(clients, seconds, ask), bare: await throughput(clients, seconds, query) });
    }
    figures.push({
      name: `2 cache off, per second: ${name}`,
      measured: `${median(pairs.map((pair) => pair.ours)).toFixed(0)}/s`,
      reference: `${median(pairs.map((pair) => pair.bare)).toFixed(0)}/s by pg alone`,
      value: median(pairs.map((pair) => pair.ours / pair.bare)),
      goal: { atLeast: 0.6 },
    });
  }
  await Promise.all(askers.map((asker) => asker.close()));
  await Promise.all(connections.map((connection) => connection.end()));
  await api.stop();
  return figures;
}
