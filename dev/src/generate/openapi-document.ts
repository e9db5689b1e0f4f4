import type { GeneratedService } from "./services.ts";

export async function generateOpenApiDocument(
  service: GeneratedService,
  databaseUrl: string,
): Promise<string | undefined> {
  if (service.documentPath === undefined) return undefined;
  const app = await service.createApp(databaseUrl);
  const response = await app.server.inject(service.documentPath);
  await app.server.close();
  await app.stop();
  return `${JSON.stringify(response.json(), null, 2)}\n`;
}
