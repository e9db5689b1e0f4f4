import type { GeneratedService } from "./services.ts";

export async function openApiDocument(service: GeneratedService, databaseUrl: string): Promise<string> {
  const app = await service.createApp(databaseUrl);
  const answer = await app.server.inject(service.documentPath);
  await app.server.close();
  await app.stop();
  return `${JSON.stringify(answer.json(), null, 2)}\n`;
}
