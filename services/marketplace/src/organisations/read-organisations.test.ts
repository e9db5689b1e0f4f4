import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { OrganisationPage, OrganisationProfile } from "@ehr-marketplace/contracts";
import { encodeCursor } from "@ehr-marketplace/service-kit/http";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";

const many = 1_250;

describe("reading organisations", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let aliases: string[];
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    aliases = await withClient(marketplace.database.ownerUrl, async (client) => {
      await client.query(
        `insert into organisations (id, alias, display_name, encrypted_secret, created_at, updated_at)
         select gen_random_uuid(), (array['', 'Z', 'a.', 'a-', 'a_'])[n % 5 + 1] || n, 'x', '1.x', now(), now()
         from generate_series(1, $1::int) as n`,
        [many],
      );
      const found = await client.query<{ alias: string }>("select alias from organisations");
      return found.rows.map(({ alias }) => alias);
    });
  });
  const list = (query: string): Promise<Response> => marketplace.requestAs("operator", `/admin/organisations?${query}`);
  const page = async (query: string): Promise<OrganisationPage> => {
    const response = await list(query);
    assert.equal(response.status, 200, await response.clone().text());
    const read = (await response.json()) as OrganisationPage;
    assertShape("OrganisationPage", read);
    return read;
  };
  const walk = async (query: string): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let next: string | null = ""; next !== null; ) {
      const read: OrganisationPage = await page(`${query}${next === "" ? "" : `&after=${next}`}`);
      pages.push(read.items.map(({ alias }) => alias));
      next = read.next;
    }
    return pages;
  };

  for (const [query, size] of [
    ["", 100],
    ["limit=313", 313],
    ["limit=5000", 1_000],
    // Up to the last page: no page is empty, and every `next` has a page.
    [`limit=${(many + 2) / 2}`, (many + 2) / 2],
  ] as const) {
    test(`${query === "" ? "without a limit" : query}: pages of ${size}, by alias, with every organisation once`, async () => {
      const pages = await walk(query);
      assert.deepEqual(pages.flat(), aliases.toSorted());
      assert.ok(pages.slice(0, -1).every(({ length }) => length === size));
      assert.ok((pages.at(-1)?.length ?? 0) > 0);
    });
  }

  for (const [what, cursor] of [
    ["no base64", "*"],
    ["no JSON", Buffer.from("{").toString("base64url")],
    ["no list", Buffer.from('"a"').toString("base64url")],
    ["null", Buffer.from("null").toString("base64url")],
    ["an object", Buffer.from('{"0":"a","length":1}').toString("base64url")],
    ["a list of nothing", encodeCursor()],
    ["a list of too much", encodeCursor("a", "b")],
    ["a list of numbers", Buffer.from("[1]").toString("base64url")],
    ["a list of lists", Buffer.from('[["a"]]').toString("base64url")],
    ["of no alias", encodeCursor("")],
    ["of a NUL", encodeCursor("a\0b")],
    ["of half a character", Buffer.from('["\\ud800"]').toString("base64url")],
    ["of SQL", encodeCursor("' or 1=1 --")],
    ["too long", encodeCursor("a".repeat(300))],
  ] as const) {
    test(`400: a cursor that is ${what}`, async () => {
      const problem = await assertProblem(await list(`after=${cursor}`), 400, "invalid-request");
      assert.deepEqual((problem["errors"] as { pointer: string }[])[0]?.pointer, "/query/after");
    });
  }

  for (const limit of ["0", "-1", "1.5", "x", "%201"]) {
    test(`400: a limit of ${JSON.stringify(limit)}`, async () => {
      await assertProblem(await list(`limit=${limit}`), 400, "invalid-request");
    });
  }

  test("returns 404 for an unknown alias, also in another case; 403 for everyone but operators", async () => {
    for (const alias of ["nobody", "Riverside-Clinic"]) {
      const response = await marketplace.requestAs("operator", `/admin/organisations/${alias}`);
      await assertProblem(response, 404, "organisation-not-found");
    }
    for (const who of ["riverside-admin", "billing", "ehr-service", "launch-redeemer"] as const) {
      for (const path of ["", "/riverside-clinic", "/nobody"]) {
        await assertProblem(await marketplace.requestAs(who, `/admin/organisations${path}`), 403, "forbidden");
      }
    }
  });
});

describe("one's own organisation", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const alias = "riverside-clinic";
  const putRiverside = async (body: object): Promise<void> => {
    const options = { method: "PUT", body: { displayName: "Riverside Clinic", ...body } };
    const response = await marketplace.requestAs("operator", `/admin/organisations/${alias}`, options);
    assert.equal(response.status, 200, await response.text());
  };
  const read = async (): Promise<OrganisationProfile> => {
    const response = await marketplace.requestAs("riverside-member", `/organisations/${alias}`);
    assert.equal(response.status, 200, await response.clone().text());
    const profile = (await response.json()) as OrganisationProfile;
    assertShape("OrganisationProfile", profile);
    return profile;
  };

  test("is shown to its members with its time zone and the host of its EHR, and with nothing else of the callback", async () => {
    const callbackUrl = "https://ehr.riverside.example:8443/tenants/7f3a";
    await putRiverside({ callbackUrl, timeZone: "America/New_York", secret: "a secret of sixteen" });
    const profile = await read();
    assert.deepEqual(profile, {
      alias,
      displayName: "Riverside Clinic",
      kind: "LIVE",
      timeZone: "America/New_York",
      callbackHost: "ehr.riverside.example",
      delivery: { status: "active", heldSince: null, oldestDueAt: null },
      createdAt: profile.createdAt,
    });
  });

  test("says since when its EHR, or the EHR's host, is held, and since when an event waits", async () => {
    await putRiverside({ callbackUrl: "https://ehr.riverside.example/base" });
    await withClient(marketplace.database.ownerUrl, (client) =>
      client.query(
        `insert into callback_origins (origin, status, held_since) values ('https://ehr.riverside.example', 'held', '2026-11-19T09:00:00Z')`,
      ),
    );
    const heldSince = "2026-11-19T09:00:00.000Z";
    assert.deepEqual((await read()).delivery, { status: "held", heldSince, oldestDueAt: null });

    await putRiverside({});
    const [plan] = await marketplace.plans("northwind-scribe");
    const body = { appSlug: "northwind-scribe", orgAlias: alias, pricingPlanId: plan?.id };
    assert.equal((await marketplace.requestAs("operator", "/subscriptions", { body })).status, 201);
    const { callbackHost, delivery } = await read();
    assert.deepEqual([callbackHost, delivery.status], [null, "held"]);
    assert.ok(delivery.heldSince !== null && delivery.heldSince > heldSince && delivery.oldestDueAt !== null);
  });

  test("is 403 for everyone else, whether or not the alias is registered", async () => {
    for (const other of [alias, "nobody"]) {
      const response = await marketplace.requestAs("hilltop-admin", `/organisations/${other}`);
      const problem = await assertProblem(response, 403, "forbidden");
      assert.match(problem["detail"] as string, /requires the role .* for the organisation/);
    }
  });
});
