// Generates the committed files: database types, schema dumps, OpenAPI documents and types of these.
// With --check it writes nothing, lists stale files, and exits with 1 if there are any.
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "../command-line.ts";
import { startDebianCluster } from "../postgres/debian-cluster.ts";
import { startCluster } from "../postgres/start-cluster.ts";
import { generateApiTypes } from "./api-types.ts";
import { generateDatabaseTypes } from "./database-types.ts";
import { generateOpenApiDocument } from "./openapi-document.ts";
import { generateOperations } from "./operations.ts";
import { dumpSchema } from "./schema-dump.ts";
import { services } from "./services.ts";

const usage = `Usage: npm run generate -- [options]

Generates schema.sql, openapi.json and src/database-schema.ts of the services, from their migrations and routes, and of
these packages/client: the operations and their types. Needs PostgreSQL 15 in /usr/lib/postgresql/15/bin.

  --check  write nothing, list outdated files, and fail if there are any
  --help   print this text

Examples:
  npm run generate
  npm run generate -- --check`;

const { values } = readArguments(usage, { options: { check: { type: "boolean", default: false } } });

async function writeOrCheck(file: string, content: string): Promise<void> {
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
  const documents: Record<string, string> = {};
  for (const [name, service] of Object.entries(services)) {
    const urls = await service.prepareDatabase(newest.url, name);
    await writeOrCheck(`services/${name}/src/database-schema.ts`, await generateDatabaseTypes(urls.ownerUrl));
    const document = await generateOpenApiDocument(service, urls.serviceUrl);
    if (document !== undefined) {
      documents[name] = document;
      await writeOrCheck(`services/${name}/openapi.json`, document);
    }
    await writeOrCheck(`services/${name}/schema.sql`, await dumpSchema(service, oldest, name));
  }
  await writeOrCheck("packages/client/src/operations.ts", generateOperations(documents));
  for (const [name, document] of Object.entries(documents)) {
    await writeOrCheck(`packages/client/src/${name}-types.ts`, await generateApiTypes(document));
  }
} finally {
  await oldest.stop();
  await newest.stop();
}
