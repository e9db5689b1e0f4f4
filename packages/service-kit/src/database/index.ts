export { connectDatabase, type Database, type DatabaseOptions } from "./connect.ts";
export { isDatabaseAway } from "./database-away.ts";
export { type Listener, listen } from "./listen.ts";
export { migrate, pendingMigrations } from "./migrate.ts";
