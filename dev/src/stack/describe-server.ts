import pg from "pg";

/** Host, port and database of a connection string, without its credentials. */
export function describeServer(databaseUrl: string): string {
  const { host, port, database } = new pg.Client(databaseUrl);
  return `${host}:${port}/${database}`;
}
