import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { WebhookEndpointDto, WebhookEndpointPage } from "@ehr-marketplace/contracts";
import { encodeCursor } from "@ehr-marketplace/service-kit/http";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { applyRecipientEvent } from "../recipients/apply-recipient-event.ts";
import { registered } from "./register.test-support.ts";

const path = "/developer/webhooks";
const id = "01890a5d-ac96-774b-bcce-b302099a8057";

describe("reading endpoints", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let all: WebhookEndpointDto[];
  let foreign: string;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    foreign = (await registered(marketplace, { by: "lumen-developer" })).id;
    const made = [];
    for (let index = 1; index <= 20; index += 1) {
      made.push(await registered(marketplace, { body: { url: `https://hooks.example/${index}` } }));
    }
    // Three at a time have the same time and are ordered by id only.
    await query(
      `update webhook_endpoints set created_at = '2026-01-01'::timestamptz + index / 3 * interval '1 ms'
       from unnest($1::uuid[]) with ordinality as made (made_id, index) where id = made_id`,
      [
        made
          .map((each) => each.id)
          .toSorted()
          .toReversed(),
      ],
    );
    const times = await query<{ id: string; created_at: Date }>("select id, created_at from webhook_endpoints");
    const timeOf = new Map(times.map((row) => [row.id, row.created_at.toISOString()]));
    all = made
      .map((each) => ({
        ...each,
        createdAt: timeOf.get(each.id) ?? "",
        disabledReason: null,
        heldSince: null,
        nextProbeAt: null,
        rotation: null,
      }))
      .toSorted((a, b) => (`${a.createdAt} ${a.id}` < `${b.createdAt} ${b.id}` ? -1 : 1));
  });
  const query = async <T>(text: string, values: unknown[] = []): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(text, values)).rows as T[]);
  const list = (search: string): Promise<Response> => marketplace.requestAs("northwind-developer", `${path}?${search}`);
  const walk = async (search: string): Promise<WebhookEndpointDto[][]> => {
    const pages: WebhookEndpointDto[][] = [];
    for (let next: string | null = ""; next !== null; ) {
      const response = await list(`${search}${next === "" ? "" : `&after=${next}`}`);
      assert.equal(response.status, 200, await response.clone().text());
      const page = (await response.json()) as WebhookEndpointPage;
      assert.deepEqual(Object.keys(page), ["items", "next"]);
      pages.push(page.items);
      next = page.next;
    }
    return pages;
  };

  for (const [search, sizes] of [
    ["", [20]],
    ["limit=7", [7, 7, 6]],
    ["limit=10", [10, 10]],
    ["limit=1", Array<number>(20).fill(1)],
    ["limit=5000", [20]],
  ] as const) {
    test(`${search === "" ? "without a limit" : search}: lists each endpoint of the vendor once, oldest first`, async () => {
      const pages = await walk(search);
      assert.deepEqual(pages.flat(), all);
      assert.deepEqual(
        pages.map(({ length }) => length),
        sizes,
      );
    });
  }

  for (const [what, cursor] of [
    ["no JSON", "e"],
    ["of one part", encodeCursor("2026-01-01T00:00:00.000Z")],
    ["of no time", encodeCursor("soon", id)],
    ["of the year 0", encodeCursor("0000-01-01T00:00:00.000Z", id)],
    ["of a day that isn't", encodeCursor("2026-02-30T00:00:00.000Z", id)],
    ["of no id", encodeCursor("2026-01-01T00:00:00.000Z", "1")],
    ["of an id in another spelling", encodeCursor("2026-01-01T00:00:00.000Z", `urn:uuid:${id}`)],
    ["of a NUL", encodeCursor("2026-01-01T00:00:00.000Z\0", id)],
  ] as const) {
    test(`returns 400 for a cursor that is ${what}`, async () => {
      const problem = await assertProblem(await list(`after=${cursor}`), 400, "invalid-request");
      assert.deepEqual((problem["errors"] as { pointer: string }[])[0]?.pointer, "/query/after");
    });
  }
  for (const limit of ["0", "-1", "1.5", "x", "%201"]) {
    test(`returns 400 for a limit of ${JSON.stringify(limit)}`, async () => {
      await assertProblem(await list(`limit=${limit}`), 400, "invalid-request");
    });
  }

  test("shows an operator only the given vendor's endpoints", async () => {
    const headers = { "x-vendor-slug": "lumen-medical" };
    const page = (await (await marketplace.requestAs("operator", path, { headers })).json()) as WebhookEndpointPage;
    assert.deepEqual(
      page.items.map((each) => each.id),
      [foreign],
    );
    assert.equal((await marketplace.requestAs("operator", `${path}/${foreign}`, { headers })).status, 200);
    await assertProblem(await marketplace.requestAs("operator", path), 400, "invalid-request");
    const elsewhere = { headers: { "x-vendor-slug": "nobody" } };
    assert.deepEqual(await (await marketplace.requestAs("operator", path, elsewhere)).json(), {
      items: [],
      next: null,
    });
  });

  test("shows a developer of two vendors only the given vendor's endpoints", async () => {
    const claims = { vendor: ["northwind-health", "lumen-medical"], roles: ["vendor-developer"] };
    const token = await signToken(marketplace.callers, claims);
    const idsFor = async (vendor: string): Promise<string[]> => {
      const response = await sendApiRequest(marketplace.url, path, token, { headers: { "x-vendor-slug": vendor } });
      return ((await response.json()) as WebhookEndpointPage).items.map((each) => each.id);
    };
    assert.deepEqual(await idsFor("lumen-medical"), [foreign]);
    assert.deepEqual(
      await idsFor("northwind-health"),
      all.map((each) => each.id),
    );
    await assertProblem(await sendApiRequest(marketplace.url, path, token), 400, "invalid-request");
    const asNorthwind = { headers: { "x-vendor-slug": "northwind-health" } };
    const response = await sendApiRequest(marketplace.url, `${path}/${foreign}`, token, asNorthwind);
    await assertProblem(response, 404, "endpoint-not-found");
  });

  test("returns the same 404 for another vendor's endpoint and an unknown one, for every operation", async () => {
    const delivery = randomUUID();
    const operations: [string, string, unknown?][] = [
      ["GET", ""],
      ["PATCH", "", { events: ["ping"] }],
      ["DELETE", ""],
      ["POST", "/rotate-secret", { secret: "a secret of somebody else" }],
      ["POST", "/promote-secret"],
      ["POST", "/enable"],
      ["POST", "/test"],
      ["GET", "/deliveries"],
      ["GET", `/deliveries/${delivery}/attempts`],
      ["POST", `/deliveries/${delivery}/redeliver`],
    ];
    const snapshot = (): Promise<unknown> => query("select * from webhook_endpoints where id = $1", [foreign]);
    const untouched = await snapshot();
    const responses = new Set<string>();
    for (const [method, below, body] of operations) {
      for (const whose of [foreign, randomUUID()]) {
        const asking = { method, ...(body === undefined ? {} : { body }) };
        const response = await marketplace.requestAs("northwind-developer", `${path}/${whose}${below}`, asking);
        const { detail } = await assertProblem(response, 404, "endpoint-not-found");
        responses.add(String(detail));
      }
    }
    assert.equal(responses.size, 1);
    assert.deepEqual(await snapshot(), untouched);
  });

  test("returns 400 for an invalid id", async () => {
    for (const given of ["1", `urn:uuid:${id}`, "%00"]) {
      const response = await marketplace.requestAs("northwind-developer", `${path}/${given}`);
      await assertProblem(response, 400, "invalid-request");
    }
  });

  test("shows when a held endpoint is probed next, and no time once it is enabled", async () => {
    const endpoint = await registered(marketplace, { by: "lumen-developer" });
    const { database, queue } = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl);
    const at = new Date("2026-03-18T09:30:00.007Z");
    const failure = { type: "delivery-failed", at, isProbe: false, isGone: false } as const;
    const probeTime = async (method: "GET" | "POST", action = ""): Promise<unknown> => {
      const response = await marketplace.requestAs("lumen-developer", `${path}/${endpoint.id}${action}`, { method });
      return ((await response.json()) as WebhookEndpointDto).nextProbeAt;
    };
    await database.transaction().execute(async (transaction) => {
      for (let nth = 1; nth <= 5; nth += 1) await applyRecipientEvent(transaction, queue, endpoint.id, failure);
    });
    assert.equal(await probeTime("GET"), "2026-03-18T09:31:00.007Z");
    assert.equal(await probeTime("POST", "/enable"), null);
    assert.equal(await probeTime("GET"), null);
  });

  test("shows the endpoint's delivery status", async () => {
    const endpoint = await registered(marketplace, { vendor: "mossgate" });
    const get = async (): Promise<unknown> =>
      (
        await marketplace.requestAs("operator", `${path}/${endpoint.id}`, { headers: { "x-vendor-slug": "mossgate" } })
      ).json();
    const fresh = { ...endpoint, disabledReason: null, heldSince: null, nextProbeAt: null, rotation: null };
    assert.deepEqual(await get(), fresh);
    const heldSince = "2026-03-18T09:30:00.007Z";
    await query("update recipients set status = 'held', held_since = $2 where id = $1", [endpoint.id, heldSince]);
    assert.deepEqual(await get(), { ...fresh, status: "held", heldSince });
    await query(
      "update recipients set status = 'disabled', disabled_at = now(), disabled_reason = 'it is gone' where id = $1",
      [endpoint.id],
    );
    assert.deepEqual(await get(), { ...fresh, status: "disabled", heldSince, disabledReason: "it is gone" });
  });
});
