import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import pg from "pg";
import { restrictDatabase } from "./restrict-database.ts";

const serviceRole = "marketplace_service";

/** Creates a database with default privileges, and a login that can create tables in it. */
async function openDatabase(t: TestContext, { owned }: { owned: boolean }) {
  const cleanUp = cleanUpAfter(t);
  const { ownerUrl: adminUrl } = await cloneDatabase(cleanUp);
  const login = `owner_${randomUUID().slice(0, 8)}`;
  const name = pg.escapeIdentifier(`An "odd" name ${login}`);
  const admin = (statement: string): Promise<unknown> => withClient(adminUrl, (client) => client.query(statement));
  await admin(`create role ${login} login password 'known'`);
  await admin(`create database ${name} ${owned ? `owner ${login}` : ""}`);
  cleanUp(async () => {
    await admin(`drop database ${name} with (force)`);
    await admin(`drop role ${login}`);
  });
  const url = new URL(adminUrl);
  url.pathname = `/${encodeURIComponent(`An "odd" name ${login}`)}`;
  const ownAdminUrl = url.href;
  url.username = login;
  url.password = "known";
  const rights = (): Promise<unknown> =>
    withClient(ownAdminUrl, async (client) => {
      const { rows } = await client.query(`
        select has_database_privilege('public', current_database(), 'connect') as anyone_connects,
          has_database_privilege('public', current_database(), 'temporary') as anyone_creates_temporary_tables,
          has_schema_privilege('public', 'public', 'create') as anyone_creates_tables,
          has_database_privilege('${serviceRole}', current_database(), 'connect') as service_connects,
          has_database_privilege('${serviceRole}', current_database(), 'temporary') as service_creates_temporary_tables`);
      return rows[0];
    });
  return { ownerUrl: url.href, adminUrl: ownAdminUrl, rights };
}

const restricted = {
  anyone_connects: false,
  anyone_creates_temporary_tables: false,
  anyone_creates_tables: false,
  service_connects: true,
  service_creates_temporary_tables: false,
};

test("only the owner and the service can connect, also after repeated runs", async (t) => {
  const { ownerUrl, adminUrl, rights } = await openDatabase(t, { owned: true });
  await withClient(adminUrl, (client) => client.query("grant create on schema public to public"));
  await restrictDatabase(ownerUrl, serviceRole);
  assert.deepEqual(await rights(), restricted);
  await restrictDatabase(ownerUrl, serviceRole);
  assert.deepEqual(await rights(), restricted);
});

test("a login without the rights gets the statements that an administrator must run", async (t) => {
  const { ownerUrl, adminUrl, rights } = await openDatabase(t, { owned: false });
  const error = await restrictDatabase(ownerUrl, serviceRole).then(
    () => assert.fail("it was restricted"),
    (thrown: Error) => thrown,
  );
  const [explanation = "", ...statements] = error.message.split("\n");
  assert.match(explanation, /doesn't own the database.* Run as an administrator/);
  await withClient(adminUrl, (client) => client.query(statements.join("\n")));
  assert.deepEqual(await rights(), restricted);
  await restrictDatabase(ownerUrl, serviceRole);
});
