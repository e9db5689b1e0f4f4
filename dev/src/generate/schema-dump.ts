import { startDebianCluster } from "../postgres/debian-cluster.ts";
import { prepareMarketplaceDatabase } from "../postgres/marketplace-database.ts";

const noise = /^(--.*|SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*)\n/gm;

/** Dumped by one fixed major, so that the dump depends on the migrations alone, and they are known to run there. */
export async function schemaDump(): Promise<string> {
  const cluster = await startDebianCluster();
  try {
    const { ownerUrl } = await prepareMarketplaceDatabase(cluster.url, "marketplace");
    const dump = await cluster.run(
      "pg_dump",
      "--schema-only",
      "--no-owner",
      "--exclude-schema=pgboss",
      "--exclude-table=delivery_attempts_2*",
      ownerUrl,
    );
    return dump
      .replace(noise, "")
      .replace(/\n{3,}/g, "\n\n")
      .trimStart();
  } finally {
    await cluster.stop();
  }
}
