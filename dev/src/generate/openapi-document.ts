import { createApp } from "@ehr-marketplace/marketplace/app";
import { readConfig } from "@ehr-marketplace/marketplace/config";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { marketplaceEnvironment } from "../marketplace-environment.ts";

export async function openApiDocument(databaseUrl: string): Promise<string> {
  const config = readConfig({
    ...marketplaceEnvironment(databaseUrl),
    NODE_ENV: "test",
    LOG_LEVEL: "silent",
  });
  const app = await createApp(config, createLogger({ service: "generate", level: "silent" }));
  const answer = await app.server.inject("/api/v1/openapi.json");
  await app.server.close();
  await app.stop();
  return `${JSON.stringify(answer.json(), null, 2)}\n`;
}
