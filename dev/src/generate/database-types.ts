import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export async function generateDatabaseTypes(url: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-types-"));
  const file = join(directory, "database-schema.ts");
  await promisify(execFile)("kysely-codegen", [
    "--dialect=postgres",
    `--url=${url}`,
    `--out-file=${file}`,
    "--exclude-pattern={schema_migrations,pgboss.*,delivery_attempts_2*,usage_records_2*,launches_2*,audit_entries_2*}",
  ]);
  const types = await readFile(file, "utf8");
  await rm(directory, { recursive: true });
  return types;
}
