import { randomUUID } from "node:crypto";
import pg from "pg";
import type { CleanUp } from "./clean-up.ts";
import { getSharedPart } from "./shared-parts.ts";

export interface ServiceDatabase {
  ownerUrl: string;
  /** Connects with the service's rights in production, which don't include schema changes. */
  serviceUrl: string;
}

export interface ServiceLogin {
  user: string;
  password: string;
  /** The role that the migrations grant the service's rights to. */
  role: string;
}

/** A migrated database that tests clone, and the login of the service that it belongs to. */
export interface Template {
  database: string;
  login: ServiceLogin;
}

/** The marketplace without data, with the demo apps, and also with what a local stack has; the EHR with the demo organisations; the web. */
export type TemplateName = "empty" | "demo" | "stack" | "ehr" | "web";

/** A cluster that all test files share. */
interface SharedCluster {
  clusterUrl: string;
  templates: Record<TemplateName, Template>;
}

interface CloneOptions {
  /** A database without connections, instead of the template. */
  source?: ServiceDatabase | undefined;
  /** The version of PostgreSQL. By default that which the tier has for the file. */
  postgres?: string;
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export function urlsFor(clusterUrl: string, name: string, login: ServiceLogin): ServiceDatabase {
  const owner = new URL(clusterUrl);
  owner.pathname = `/${name}`;
  const service = new URL(owner);
  service.username = login.user;
  service.password = login.password;
  return { ownerUrl: owner.href, serviceUrl: service.href };
}

export async function dropDatabase(clusterUrl: string, name: string): Promise<void> {
  await withClient(clusterUrl, (client) => client.query(`drop database ${pg.escapeIdentifier(name)} with (force)`));
}

/** Clones a template into a new database, which is dropped when the test ends. */
export async function cloneDatabase(
  cleanUp: CleanUp,
  template: TemplateName = "empty",
  { source, postgres = process.env["TEST_POSTGRES"] ?? "newest" }: CloneOptions = {},
): Promise<ServiceDatabase> {
  const { clusterUrl, templates } = await getSharedPart<SharedCluster>(`postgres/${postgres}`);
  const { database, login } = templates[template];
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const copied = source === undefined ? database : new URL(source.ownerUrl).pathname.slice(1);
  // Copying files takes a fifth of the CPU time of the default strategy, which writes them to the WAL.
  await withClient(clusterUrl, (client) =>
    client.query(`create database ${name} template ${copied} strategy file_copy`),
  );
  cleanUp(() => dropDatabase(clusterUrl, name));
  const urls = urlsFor(clusterUrl, name, login);
  // Imported here, because it takes longer to load than most tests without a database to run.
  const { restrictDatabase } = await import("@ehr-marketplace/service-kit/database");
  // A clone has the template's schema but not its privileges on the database itself.
  await restrictDatabase(urls.ownerUrl, login.role);
  return urls;
}
