import { migrateDatabase } from "@ehr-marketplace/ehr/migrate-database";
import { prepareDatabase, type ServiceDatabase, type ServiceLogin } from "./service-database.ts";

export const ehrLogin: ServiceLogin = { user: "ehr_login", password: "ehr", role: "ehr_service" };

export function prepareEhrDatabase(clusterUrl: string, name: string): Promise<ServiceDatabase> {
  return prepareDatabase(clusterUrl, name, ehrLogin, migrateDatabase);
}
