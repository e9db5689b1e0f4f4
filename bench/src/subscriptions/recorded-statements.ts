import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { marketplaceEnvironment } from "@ehr-marketplace/dev/marketplace-environment";
import { createApp } from "@ehr-marketplace/marketplace/app";
import { readConfig } from "@ehr-marketplace/marketplace/config";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import pg from "pg";

export interface Statement {
  text: string;
  values: unknown[];
}

/** What the service itself sends to the database for one request: taken down as it sends it. */
export async function recordStatements(
  serviceUrl: string,
  issuer: IdentityProvider,
  request: { url: string; token: string; body: object },
): Promise<Statement[]> {
  const config = readConfig({ ...marketplaceEnvironment(serviceUrl, issuer), NODE_ENV: "test" });
  const app = await createApp(config, createLogger({ service: "bench", level: "silent" }));
  await app.server.inject("/health/ready");
  const statements: Statement[] = [];
  let recording = false;
  // oxlint-disable-next-line typescript/unbound-method -- the proxy passes `this` on
  const query = pg.Client.prototype.query;
  pg.Client.prototype.query = new Proxy(query, {
    apply(sent, client, given: unknown[]) {
      const [text, values] = given;
      if (recording && typeof text === "string" && text !== "select 1") {
        statements.push({ text, values: (values as unknown[] | undefined) ?? [] });
      }
      return Reflect.apply(sent, client, given) as unknown;
    },
  });
  recording = true;
  const answer = await app.server.inject({
    method: "POST",
    url: request.url,
    headers: { authorization: `Bearer ${request.token}` },
    payload: request.body,
  });
  recording = false;
  pg.Client.prototype.query = query;
  await app.server.close();
  await app.stop();
  if (answer.statusCode !== 201) throw new Error(`${answer.statusCode}: ${answer.body}`);
  return statements;
}
