import pg from "pg";

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

export async function dropDatabase(clusterUrl: string, name: string): Promise<void> {
  await withClient(clusterUrl, (client) => client.query(`drop database ${pg.escapeIdentifier(name)} with (force)`));
}
