// Makes what is committed and derived: the database's types, the schema's dump and the OpenAPI document.
// With --check nothing is written; what is stale is named, and the exit code is 1.
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { databaseTypes } from "./database-types.ts";
import { openApiDocument } from "./openapi-document.ts";
import { schemaDump } from "./schema-dump.ts";
import { withThrowawayDatabase } from "./throwaway-database.ts";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const marketplace = new URL("../../../services/marketplace/", import.meta.url);

const made = await withThrowawayDatabase(async (urls) => ({
  "src/database-schema.ts": await databaseTypes(urls.ownerUrl),
  "openapi.json": await openApiDocument(urls.serviceUrl),
  "schema.sql": await schemaDump(),
}));

for (const [file, content] of Object.entries(made)) {
  const path = new URL(file, marketplace);
  const committed = await readFile(path, "utf8").catch(() => "");
  if (committed === content) continue;
  if (values.check) {
    console.error(`services/marketplace/${file} is stale. Run "npm run generate" and commit the result.`);
    process.exitCode = 1;
  } else {
    await writeFile(path, content);
    console.log(`services/marketplace/${file} written`);
  }
}
