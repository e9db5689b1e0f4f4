export { connectDatabase, type Database, type DatabaseOptions, type Prepared } from "./connect.ts";
export { isDatabaseAway } from "./database-away.ts";
export { type Batches, inBatches, inTransactions } from "./in-batches.ts";
export { type Listener, listen } from "./listen.ts";
export { migrate, pendingMigrations } from "./migrate.ts";
export { restrictDatabase } from "./restrict-database.ts";
export { runMigration } from "./run-migration.ts";
export { writeTogether } from "./write-together.ts";
