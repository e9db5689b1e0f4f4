import { migrateDatabase } from "@ehr-marketplace/ehr/migrate-database";
import { type ServiceDatabase, type ServiceLogin } from "@ehr-marketplace/test-kit";
import { prepareDatabase } from "./service-database.ts";

export const ehrLogin: ServiceLogin = { user: "ehr_login", password: "ehr", role: "ehr_service" };

export function prepareEhrDatabase(clusterUrl: string, name: string): Promise<ServiceDatabase> {
  return prepareDatabase(clusterUrl, name, ehrLogin, migrateDatabase);
}
