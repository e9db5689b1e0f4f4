import { createApp } from "@ehr-marketplace/marketplace/app";
import { readConfig } from "@ehr-marketplace/marketplace/config";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";

export async function openApiDocument(databaseUrl: string): Promise<string> {
  const config = readConfig({
    NODE_ENV: "test",
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: "silent",
  });
  const app = await createApp(config, createLogger({ service: "generate", level: "silent" }));
  const answer = await app.server.inject("/api/v1/openapi.json");
  await app.server.close();
  await app.stop();
  return `${JSON.stringify(answer.json(), null, 2)}\n`;
}
