import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import {
  change,
  configInClear,
  dataOf,
  hilltop,
  install,
  type Practice,
  putConfig,
  riverside,
  startPractice,
} from "./installations.test-support.ts";

const maxBytes = 1_048_576;

describe("an organisation's configurations are limited to 1 MiB in total", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  const slugs: string[] = [];
  before(async () => {
    practice = await startPractice(cleanUp);
    for (let nth = 0; nth < 30; nth += 1) slugs.push(await install(practice.database.ownerUrl, { schema: null }));
  });
  const storedBytes = (): Promise<number> =>
    withClient(practice.database.ownerUrl, async (client) => {
      const { rows } = await client.query<{ bytes: number }>(
        "select sum(octet_length(encrypted_config))::integer as bytes from installations where org_alias = $1",
        [riverside],
      );
      return rows[0]?.bytes ?? 0;
    });
  const large = { text: "x".repeat(60_000) };
  let stored: string[] = [];
  const notStored = (): string => slugs.find((slug) => !stored.includes(slug)) ?? "";

  test("also with concurrent changes", async () => {
    const statuses = await Promise.all(
      slugs.map(async (slug) => {
        const response = await putConfig(practice, slug, large);
        await response.text();
        return response.status;
      }),
    );
    stored = slugs.filter((_, index) => statuses[index] === 200);
    assert.deepEqual(new Set(statuses), new Set([200, 422]));
    const bytes = await storedBytes();
    assert.ok(bytes <= maxBytes && bytes + 80_100 > maxBytes, `${bytes}`);
  });

  test("beyond the limit, returns 422 with advice and changes nothing", async () => {
    const refused = notStored();
    const message = await assertFailure(await putConfig(practice, refused, large), 422);
    assert.match(
      message,
      /would have \d+ bytes in total; the limit is 1048576\. Shorten this one or those of other apps/,
    );
    assert.deepEqual(await configInClear(practice, refused), {});
  });

  test("counts configurations of removed apps, which a new subscription restores", async () => {
    const [removed = ""] = stored;
    const refused = notStored();
    const setStatus = "update installations set status = $2, removed_at = case $2 when 'removed' then now() end";
    await change(practice.database.ownerUrl, `${setStatus} where app_slug = $1`, [removed, "removed"]);
    await assertFailure(await putConfig(practice, refused, large), 422);
    await change(practice.database.ownerUrl, `${setStatus} where app_slug = $1`, [removed, "active"]);
  });

  test("accepts a configuration that doesn't grow, even beyond the limit", async () => {
    const [first = "", second = ""] = stored;
    const refused = notStored();
    // As it may have been stored before the limit was introduced.
    await change(
      practice.database.ownerUrl,
      `update installations set encrypted_config = encrypted_config || repeat('x', 100000) where app_slug = $1`,
      [second],
    );
    await dataOf(await putConfig(practice, first, { text: "y".repeat(60_000) }));
    await assertFailure(await putConfig(practice, first, { text: "y".repeat(60_100) }), 422);
    await dataOf(await putConfig(practice, second, {}));
    await dataOf(await putConfig(practice, refused, large));
  });

  test("doesn't count configurations of other organisations", async () => {
    const slug = await install(practice.database.ownerUrl, { orgAlias: hilltop, schema: null });
    await dataOf(await putConfig(practice, slug, large, "hilltop-admin"));
  });
});
