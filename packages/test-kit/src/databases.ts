import { randomUUID } from "node:crypto";
import { relative } from "node:path";
import pg from "pg";
import type { CleanUp } from "./clean-up.ts";

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

/** Two templates of the marketplace, and the EHR's with the demo organisations. */
export type Templates = Record<"empty" | "demo" | "ehr" | "web", Template>;

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

/** Clones a template, or a database without connections, into a new database, which is dropped when the test ends. */
export async function cloneDatabase(
  cleanUp: CleanUp,
  template: keyof Templates = "empty",
  source?: ServiceDatabase,
): Promise<ServiceDatabase> {
  const { TEST_CLUSTER_URL: clusterUrl, TEST_TEMPLATES: templates } = process.env;
  if (clusterUrl === undefined || templates === undefined) {
    const file = relative(process.cwd(), process.argv[1] ?? "FILE");
    throw new Error(`This test needs a database, which npm test starts. Run it with: npm test -- ${file}`);
  }
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const { database, login } = (JSON.parse(templates) as Templates)[template];
  const copied = source === undefined ? database : new URL(source.ownerUrl).pathname.slice(1);
  await withClient(clusterUrl, (client) => client.query(`create database ${name} template ${copied}`));
  cleanUp(() => dropDatabase(clusterUrl, name));
  const urls = urlsFor(clusterUrl, name, login);
  // Imported here, because it takes longer to load than most tests without a database to run.
  const { restrictDatabase } = await import("@ehr-marketplace/service-kit/database");
  // A clone has the template's schema but not its privileges on the database itself.
  await restrictDatabase(urls.ownerUrl, login.role);
  return urls;
}
