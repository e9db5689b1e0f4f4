import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";

/** Runs a service's migration step, which is expected to fail, and returns its error output. */
function runMigrationStep(service: string, connectionString: string): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`services/${service}/src/migrate.ts`], {
    env: { NODE_ENV: "test", MIGRATION_DATABASE_URL: connectionString },
    encoding: "utf8",
  });
  assert.equal(status, 1, stdout);
  return stderr;
}

for (const service of ["marketplace", "ehr"]) {
  describe(`the migration step of the service ${service}`, () => {
    test("without a connection string prints an example for this service", () => {
      const example = `MIGRATION_DATABASE_URL=postgres://${service}_owner:secret@db.internal:5432/${service}?sslmode=verify-full`;
      assert.ok(runMigrationStep(service, "").includes(example));
    });

    for (const host of ["127.0.0.1:1", "localhost:1", "nowhere.invalid"]) {
      test(`reports the variable and the cause when it can't connect to ${host}, without the password`, () => {
        const printed = runMigrationStep(service, `postgres://owner:hunter2@${host}/data`);
        assert.match(
          printed,
          /^MIGRATION_DATABASE_URL: failed to connect to the database: .*(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)/,
        );
        assert.doesNotMatch(printed, /hunter2/);
      });
    }
  });
}
