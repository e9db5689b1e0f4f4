import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import type { JsonObject } from "@ehr-marketplace/config-schema";
import { cleanUpAfter, eventually, rounds } from "@ehr-marketplace/test-kit";
import { collectTexts, secretsAndConfig } from "@ehr-marketplace/test-kit/config-schemas";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import fc from "fast-check";
import {
  change,
  configInClear,
  configShown,
  dataOf,
  install,
  type Practice,
  putConfig,
  riverside,
  startPractice,
} from "./installations.test-support.ts";

describe("a value marked writeOnly is returned to the role ehr-service only", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  before(async () => {
    practice = await startPractice(cleanUp);
  });

  /** All responses about an app that an organisation's members and services can get. */
  const responsesOf = async (slug: string): Promise<Response[]> => {
    const path = `/app-installations/${slug}`;
    const headers = { "x-org-alias": riverside };
    return [
      await practice.as("riverside-member", path),
      await practice.as("riverside-admin", "/app-installations"),
      await practice.as("operator", path, { headers }),
      await practice.as("ehr-service", path, { headers }),
    ];
  };

  test("for any schema of the profile and any configuration", async () => {
    await fc.assert(
      fc.asyncProperty(secretsAndConfig, async ({ schema, config: generated }) => {
        // Unique texts, which nothing else in a response contains.
        const needle = `<needle-${randomUUID()}-$1>`;
        const config = JSON.parse(JSON.stringify(generated).replaceAll(/<(\d+)>/g, needle)) as JsonObject;
        const { secret, open } = collectTexts({ schema, config });
        const slug = await install(practice.database.ownerUrl, { schema });
        const stored = await putConfig(practice, slug, config);
        const again = await putConfig(practice, slug, await configShown(practice, slug));
        for (const response of [stored, again, ...(await responsesOf(slug))]) {
          const text = await response.text();
          assert.equal(response.status, 200, text);
          for (const each of secret) assert.ok(!text.includes(each), `${each} in ${text}`);
          for (const each of open) assert.ok(text.includes(each), `${each} in ${text}`);
        }
        for (const name of Object.keys(schema.properties ?? {})) {
          const refusal = await assertFailure(await putConfig(practice, slug, { ...config, [name]: 5 }), 400);
          assert.doesNotMatch(refusal, /needle/);
        }
        assert.deepEqual(await configInClear(practice, slug), config);
      }),
      { numRuns: rounds(15, 150) },
    );
  });

  test("a configuration stored before secrets were pointers is hidden completely until it is set again", async () => {
    const { ownerUrl } = practice.database;
    const slug = await install(ownerUrl, { schema: { type: "object" } });
    await dataOf(await putConfig(practice, slug, { key: "needle", open: 1 }));
    await change(
      ownerUrl,
      `update installations set config_secrets = '[[{"names":[["key",1]]},{"secret":true}]]' where app_slug = $1`,
      [slug],
    );
    await change(ownerUrl, "update apps set config_secrets = '[{}]', etag = 'e' where slug = $1", [slug]);
    await change(
      ownerUrl,
      await readFile(new URL("../../migrations/0004-config-profile.sql", import.meta.url), "utf8"),
    );
    await eventually("it is hidden", 30_000, async () => (await configShown(practice, slug))["open"] === null);
    assert.deepEqual(await configShown(practice, slug), { key: null, open: null });
    await assertFailure(await putConfig(practice, slug, { key: null }), 422);

    // Simulates the catalog's next response.
    await change(
      ownerUrl,
      'update apps set config_schema = \'{"type":"object"}\', schema_problem = null, config_secrets = null where slug = $1',
      [slug],
    );
    await dataOf(await putConfig(practice, slug, { key: null, open: 2 }));
    assert.deepEqual(await configShown(practice, slug), { key: null, open: 2 });
    assert.deepEqual(await configInClear(practice, slug), { key: "needle", open: 2 });
  });
});
