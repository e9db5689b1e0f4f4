import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { findBundled } from "@ehr-marketplace/tests/support/service-process";

const spawnMigrationStep = async (service: string, connectionString: string) =>
  spawnSync(process.execPath, [await findBundled(service, "migrate")], {
    env: { NODE_ENV: "test", MIGRATION_DATABASE_URL: connectionString },
    encoding: "utf8",
  });

/** Runs a service's migration step, which is expected to fail, and returns its error output. */
async function runMigrationStep(service: string, connectionString: string): Promise<string> {
  const { status, stdout, stderr } = await spawnMigrationStep(service, connectionString);
  assert.equal(status, 1, stdout);
  return stderr;
}

for (const [service, template] of [
  ["marketplace", "empty"],
  ["ehr", "ehr"],
] as const) {
  describe(`the migration step of the service ${service}`, () => {
    test("without a connection string prints an example for this service", async () => {
      const example = `MIGRATION_DATABASE_URL=postgres://${service}_owner:secret@db.internal:5432/${service}?sslmode=verify-full`;
      assert.ok((await runMigrationStep(service, "")).includes(example));
    });

    test("with the service's login names the variable and the owner, and prints no stack trace", async (t) => {
      const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUpAfter(t), template);
      const [login, owner] = [serviceUrl, ownerUrl].map((url) => new URL(url).username);
      assert.equal(
        await runMigrationStep(service, serviceUrl),
        `MIGRATION_DATABASE_URL: its login ${login} doesn't own the tables; set it to the login of their owner, ${owner}\n`,
      );
    });

    test("with a login that may not create the first table names the variable", async (t) => {
      const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUpAfter(t), template);
      await withClient(ownerUrl, (client) => client.query("drop table schema_migrations"));
      assert.equal(
        await runMigrationStep(service, serviceUrl),
        `MIGRATION_DATABASE_URL: its login ${new URL(serviceUrl).username} may not create tables; set it to the login that owns the database\n`,
      );
    });

    for (const host of ["127.0.0.1:1", "localhost:1", "nowhere.invalid"]) {
      test(`reports the variable and the cause when it can't connect to ${host}, without the password`, async () => {
        const printed = await runMigrationStep(service, `postgres://owner:hunter2@${host}/data`);
        assert.match(
          printed,
          /^MIGRATION_DATABASE_URL: failed to connect to the database: .*(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)/,
        );
        assert.doesNotMatch(printed, /hunter2/);
      });
    }
  });
}

test("the migration step upgrades no queue unless it is told to, and says what to do", async (t) => {
  const { ownerUrl } = await cloneDatabase(cleanUpAfter(t), "web");
  const older = "update pgboss.version set version = version - 1 returning version";
  const installed = await withClient(ownerUrl, async (client) => (await client.query(older)).rows);
  const { status, stdout } = await spawnMigrationStep("web", ownerUrl);
  assert.equal(status, 0);
  assert.match(
    stdout,
    /"Upgrading" in the operator's guide says when to run this step again with --queue\.\nThe schema is/,
  );
  const current = await withClient(
    ownerUrl,
    async (client) => (await client.query("select version from pgboss.version")).rows,
  );
  assert.deepEqual(current, installed);
});
