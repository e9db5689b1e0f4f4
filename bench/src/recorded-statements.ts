import { marketplaceEnvironment, type TokenIssuer } from "@ehr-marketplace/dev/service-environments";
import { createApp } from "@ehr-marketplace/marketplace/app";
import { readConfig } from "@ehr-marketplace/marketplace/config";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import type { InjectOptions } from "fastify";
import pg from "pg";

export interface Statement {
  text: string;
  values: unknown[];
}

/** Records the statements that the service sends to the database for each request. */
export async function recordStatements(
  serviceUrl: string,
  requests: InjectOptions[],
  issuer?: TokenIssuer,
): Promise<Statement[][]> {
  let recorded: Statement[] | undefined;
  // oxlint-disable-next-line typescript/unbound-method -- the proxy passes `this` on
  const query = pg.Client.prototype.query;
  pg.Client.prototype.query = new Proxy(query, {
    apply(sent, client, given: unknown[]) {
      const [text, values] = given;
      // The listener's health check belongs to no request.
      if (typeof text === "string" && text !== "select 1") {
        recorded?.push({ text, values: (values as unknown[] | undefined) ?? [] });
      }
      return Reflect.apply(sent, client, given) as unknown;
    },
  });
  // Create the app after the proxy: each connection of the pool keeps the method that it found when it was created.
  const environment = { ...marketplaceEnvironment(serviceUrl, issuer), NODE_ENV: "test", CATALOG_CACHE_SECONDS: "0" };
  const app = await createApp(readConfig(environment), createLogger({ service: "bench", level: "silent" }));
  await app.server.inject("/health/ready");
  const all: Statement[][] = [];
  for (const request of requests) {
    recorded = [];
    all.push(recorded);
    const response = await app.server.inject(request);
    if (response.statusCode >= 300) throw new Error(`${response.statusCode}: ${response.body}`);
  }
  pg.Client.prototype.query = query;
  await app.server.close();
  await app.stop();
  return all;
}
