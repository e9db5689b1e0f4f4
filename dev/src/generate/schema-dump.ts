import { type DebianCluster, dumpDatabase } from "../postgres/debian-cluster.ts";
import type { GeneratedService } from "./services.ts";

const noise = /^(--.*|SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*)\n/gm;

/** Dumps the schema with one fixed major version, so that the dump depends on the migrations only and they are tested on that version. */
export async function dumpSchema(service: GeneratedService, cluster: DebianCluster, name: string): Promise<string> {
  const { ownerUrl } = await service.prepareDatabase(cluster.url, name);
  const dump = await dumpDatabase(
    ownerUrl,
    "--schema-only",
    "--no-owner",
    "--exclude-schema=pgboss",
    "--exclude-table=delivery_attempts_2*",
    "--exclude-table=usage_records_2*",
    "--exclude-table=launches_2*",
    "--exclude-table=audit_entries_2*",
  );
  return dump
    .replace(noise, "")
    .replace(/\n{3,}/g, "\n\n")
    .trimStart();
}
