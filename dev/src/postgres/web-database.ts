import type { ServiceDatabase, ServiceLogin } from "@ehr-marketplace/test-kit";
import { migrateDatabase } from "@ehr-marketplace/web/migrate-database";
import { prepareDatabase } from "./service-database.ts";

export const webLogin: ServiceLogin = { user: "web_login", password: "web", role: "web_service" };

export function prepareWebDatabase(clusterUrl: string, name: string): Promise<ServiceDatabase> {
  return prepareDatabase(clusterUrl, name, webLogin, migrateDatabase);
}
