import { type ServiceDatabase, type ServiceLogin, urlsFor, withClient } from "@ehr-marketplace/test-kit";
import pg from "pg";

/** Creates the database if it is missing, migrates it, and creates the service's login. */
export async function prepareDatabase(
  clusterUrl: string,
  name: string,
  login: ServiceLogin,
  migrateDatabase: (ownerUrl: string) => Promise<unknown>,
): Promise<ServiceDatabase> {
  const urls = urlsFor(clusterUrl, name, login);
  await withClient(clusterUrl, async (client) => {
    const existing = await client.query("select from pg_database where datname = $1", [name]);
    if (existing.rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(name)} encoding utf8`);
  });
  await migrateDatabase(urls.ownerUrl);
  await withClient(urls.ownerUrl, (client) =>
    client.query(`
      do $$ begin
        create role ${login.user} login password '${login.password}' in role ${login.role};
      exception when duplicate_object or unique_violation then null;
      end $$`),
  );
  return urls;
}
