import { migrateDatabase } from "@ehr-marketplace/marketplace/migrate-database";
import { type ServiceDatabase, type ServiceLogin } from "@ehr-marketplace/test-kit";
import { prepareDatabase } from "./service-database.ts";

export const marketplaceLogin: ServiceLogin = {
  user: "marketplace_login",
  password: "marketplace",
  role: "marketplace_service",
};

export function prepareMarketplaceDatabase(clusterUrl: string, name: string): Promise<ServiceDatabase> {
  return prepareDatabase(clusterUrl, name, marketplaceLogin, migrateDatabase);
}
