import type { DebianCluster } from "../postgres/debian-cluster.ts";
import type { GeneratedService } from "./services.ts";

const noise = /^(--.*|SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*)\n/gm;

/** Dumped by one fixed major, so that the dump depends on the migrations alone, and they are known to run there. */
export async function schemaDump(service: GeneratedService, cluster: DebianCluster, name: string): Promise<string> {
  const { ownerUrl } = await service.prepareDatabase(cluster.url, name);
  const dump = await cluster.run(
    "pg_dump",
    "--schema-only",
    "--no-owner",
    "--exclude-schema=pgboss",
    "--exclude-table=delivery_attempts_2*",
    "--exclude-table=launches_2*",
    "--exclude-table=audit_entries_2*",
    ownerUrl,
  );
  return dump
    .replace(noise, "")
    .replace(/\n{3,}/g, "\n\n")
    .trimStart();
}
