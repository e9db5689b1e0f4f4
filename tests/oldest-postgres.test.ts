import assert from "node:assert/strict";
import { glob, readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import {
  excludedOnOldestPostgres,
  independentOfVersion,
  oldestPostgresTests,
  withoutDatabase,
} from "./oldest-postgres.ts";

const filesOf = (name: string): Promise<string[]> => Array.fromAsync(glob(`services/*/src/**/${name}.test.ts`));

describe("on PostgreSQL 15", () => {
  test("a test file runs unless it is listed", async () => {
    const run = await Array.fromAsync(glob(oldestPostgresTests, { exclude: excludedOnOldestPostgres }));
    const listed = (await Promise.all([...withoutDatabase, ...independentOfVersion].map(filesOf))).flat();
    const all = await Array.fromAsync(glob(oldestPostgresTests, { exclude: ["**/node_modules/**"] }));
    assert.ok(run.length > 50, `${run.length} files`);
    assert.deepEqual([...run, ...listed].toSorted(), all.toSorted());
  });

  for (const name of [...withoutDatabase, ...independentOfVersion]) {
    test(`the listed ${name} is a test of a service`, async () => {
      assert.notDeepEqual(await filesOf(name), []);
    });
  }

  for (const name of withoutDatabase) {
    test(`${name} isn't repeated, as it uses no database`, async () => {
      for (const file of await filesOf(name)) {
        const text = await readFile(file, "utf8");
        assert.doesNotMatch(
          text,
          /cloneDatabase|connectAsService|startMarketplace|startEhr|startWeb|test-support/,
          file,
        );
      }
    });
  }
});
