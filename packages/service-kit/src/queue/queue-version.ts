import bossPackage from "pg-boss/package.json" with { type: "json" };

export const queueSchema = "pgboss";

/** The version of pg-boss's schema that this code needs. Its statements are written for exactly this one. */
export const neededQueueVersion: number = bossPackage.pgboss.schema;

/** The queue's schema is missing, or has another version than this code needs. */
export class QueueVersionError extends Error {
  override readonly name = "QueueVersionError";
  constructor(found: number | undefined) {
    const state =
      found === undefined
        ? "is missing: run the migration step"
        : found < neededQueueVersion
          ? `has version ${found}: run the migration step of this version of the service with --queue`
          : `has version ${found}: a newer version of the service has upgraded it. Start that version instead`;
    super(`the queue's schema has to have version ${neededQueueVersion}, and ${state}`);
  }
}

/** Returns the version of the installed schema, or undefined if there is none. */
export async function readQueueVersion(database: {
  query(text: string): Promise<{ rows: unknown[] }>;
}): Promise<number | undefined> {
  const { rows: tables } = await database.query(
    `select to_regclass('${queueSchema}.version') is not null as installed`,
  );
  if ((tables as { installed: boolean }[])[0]?.installed !== true) return undefined;
  const { rows } = await database.query(`select version from ${queueSchema}.version`);
  return (rows as { version: number }[])[0]?.version;
}
