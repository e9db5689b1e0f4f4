export { createBatchWriter } from "./batch-writer.ts";
export { connectDatabase, type Database, type DatabaseOptions } from "./connect.ts";
export { isDatabaseUnavailable } from "./database-unavailable.ts";
export { executePrepared } from "./execute-prepared.ts";
export { type Listener, listen } from "./listen.ts";
export { migrate, pendingMigrations } from "./migrate.ts";
export { restrictDatabase } from "./restrict-database.ts";
export { type BatchOptions, runInBatches, runInTransactions } from "./run-in-batches.ts";
export { runMigration } from "./run-migration.ts";
