import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { ReplayDto, ReplayPage } from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { registered } from "../endpoints/register.test-support.ts";

const many = 130;

describe("GET /developer/webhooks/{id}/replays", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let endpoint: string;
  let running: ReplayDto;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    endpoint = (await registered(marketplace)).id;
    const other = (await registered(marketplace)).id;
    await withClient(marketplace.database.ownerUrl, (client) =>
      // Nine at a time have the same time and are ordered by id only.
      client.query(
        `insert into replays (id, recipient_id, kind, from_at, to_at, status, total, done, created_at, updated_at)
         select gen_random_uuid(), recipient, 'range', '2025-01-01', '2025-02-01', 'done', n, n, at, at
         from unnest($1::uuid[]) as recipient, generate_series(1, $2::int) as n
         cross join lateral (select '2026-01-01'::timestamptz + n / 9 * interval '1 s' as at) made`,
        [[endpoint, other], many],
      ),
    );
    const started = await marketplace.requestAs("northwind-developer", `/developer/webhooks/${endpoint}/replays`, {
      body: { failures: true },
    });
    assert.equal(started.status, 202, await started.clone().text());
    running = (await started.json()) as ReplayDto;
  });
  const list = (search: string): Promise<Response> =>
    marketplace.requestAs("northwind-developer", `/developer/webhooks/${endpoint}/replays?${search}`);

  test("lists the endpoint's running and ended replays once each, newest first", async () => {
    const found: ReplayDto[] = [];
    const sizes: number[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const response = await list(`limit=50${next === "" ? "" : `&after=${next}`}`);
      assert.equal(response.status, 200, await response.clone().text());
      const page = (await response.json()) as ReplayPage;
      assert.deepEqual(Object.keys(page), ["items", "next"]);
      sizes.push(page.items.length);
      found.push(...page.items);
      next = page.next;
    }
    assert.deepEqual(sizes, [50, 50, 31]);
    assert.deepEqual(found[0], running);
    const keys = found.map(({ createdAt, id }) => `${createdAt} ${id}`);
    assert.deepEqual(keys, [...new Set(keys)].toSorted().toReversed());
  });

  test("returns 400 for a foreign cursor or an empty limit", async () => {
    for (const search of ["after=x", "limit=0"]) await assertProblem(await list(search), 400, "invalid-request");
  });

  test("returns 404 for another vendor's endpoint", async () => {
    const response = await marketplace.requestAs("lumen-developer", `/developer/webhooks/${endpoint}/replays`);
    await assertProblem(response, 404, "endpoint-not-found");
  });
});
