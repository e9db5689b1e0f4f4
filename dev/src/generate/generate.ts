// Makes what is committed and derived: the databases' types, the schemas' dumps and the OpenAPI documents.
// With --check nothing is written; what is stale is named, and the exit code is 1.
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startDebianCluster } from "../postgres/debian-cluster.ts";
import { startCluster } from "../postgres/start-cluster.ts";
import { databaseTypes } from "./database-types.ts";
import { openApiDocument } from "./openapi-document.ts";
import { schemaDump } from "./schema-dump.ts";
import { services } from "./services.ts";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });

async function keep(file: string, content: string): Promise<void> {
  const path = new URL(`../../../${file}`, import.meta.url);
  const committed = await readFile(path, "utf8").catch(() => "");
  if (committed === content) return;
  if (values.check) {
    console.error(`${file} is stale. Run "npm run generate" and commit the result.`);
    process.exitCode = 1;
  } else {
    await writeFile(path, content);
    console.log(`${file} written`);
  }
}

const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-"));
const newest = await startCluster({ directory, throwaway: true, settings: { fsync: "off" } });
const oldest = await startDebianCluster();
try {
  for (const [name, service] of Object.entries(services)) {
    const urls = await service.prepareDatabase(newest.url, name);
    await keep(`services/${name}/src/database-schema.ts`, await databaseTypes(urls.ownerUrl));
    await keep(`services/${name}/openapi.json`, await openApiDocument(service, urls.serviceUrl));
    await keep(`services/${name}/schema.sql`, await schemaDump(service, oldest, name));
  }
} finally {
  await oldest.stop();
  await newest.stop();
}
