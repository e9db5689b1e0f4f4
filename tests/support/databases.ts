import { randomUUID } from "node:crypto";
import { relative } from "node:path";
import { dropDatabase, type ServiceDatabase, urlsFor, withClient } from "@ehr-marketplace/dev/postgres";
import { restrictDatabase } from "@ehr-marketplace/service-kit/database";
import type { CleanUp } from "./clean-up.ts";
import { templates } from "./templates.ts";

/** Clones a template into a new database, which is dropped when the test ends. */
export async function cloneDatabase(
  cleanUp: CleanUp,
  template: keyof typeof templates = "empty",
): Promise<ServiceDatabase> {
  const { TEST_CLUSTER_URL: clusterUrl } = process.env;
  if (clusterUrl === undefined) {
    const file = relative(process.cwd(), process.argv[1] ?? "FILE");
    throw new Error(`This test needs a database, which npm test starts. Run it with: npm test -- ${file}`);
  }
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const { database, login } = templates[template];
  await withClient(clusterUrl, (client) => client.query(`create database ${name} template ${database}`));
  cleanUp(() => dropDatabase(clusterUrl, name));
  const urls = urlsFor(clusterUrl, name, login);
  // A clone has the template's schema but not its privileges on the database itself.
  await restrictDatabase(urls.ownerUrl, login.role);
  return urls;
}
