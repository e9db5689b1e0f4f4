import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { ReviewDto } from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { rowsRead } from "../rows-read.test-support.ts";
import { findSimilarNames } from "./review-store.ts";

describe("names that look like another's", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let northwind: Publisher<Persona>;
  let lumen: Publisher<Persona>;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    const token = (who: Persona): string => marketplace.callers.token(who);
    northwind = createPublisher(marketplace.url, token, "northwind-developer");
    lumen = createPublisher(marketplace.url, token, "lumen-developer");
  });
  const skeletons = async (names: string[]): Promise<(string | null)[]> => {
    const sql =
      "select name_skeleton(name) as skeleton from unnest($1::text[]) with ordinality as given (name, nth) order by nth";
    const { rows } = await withClient(marketplace.database.ownerUrl, (client) =>
      client.query<{ skeleton: string | null }>(sql, [names]),
    );
    return rows.map(({ skeleton }) => skeleton);
  };

  test("are marked in the review with whose they are, and block nothing", async () => {
    await northwind.publish("sample-pill", { name: "Sample Pill" });
    await lumen.create("simple-copy", { name: "SAMРLE-РiIl" }); // Two Cyrillic letters, and a capital I for an l
    const id = await lumen.submit("simple-copy");
    const review = await lumen.approve(id);
    assert.deepEqual(review.similarNames, [{ kind: "app", slug: "sample-pill", name: "Sample Pill" }]);
    assert.equal(review.status, "approved");

    // Its own vendor's apps don't count, and a vendor's name does.
    await northwind.create("sample-pill-two", { name: "Sample Pill" });
    const own = await northwind.submit("sample-pill-two");
    const read = await northwind.request("operator", `/admin/reviews/${own}`);
    assert.deepEqual(((await read.json()) as ReviewDto).similarNames, [
      { kind: "app", slug: "simple-copy", name: "SAMРLE-РiIl" },
    ]);
    await northwind.create("as-vendor", { name: "Lumen Medica1" });
    const asVendor = await northwind.request("operator", `/admin/reviews/${await northwind.submit("as-vendor")}`);
    assert.deepEqual(((await asVendor.json()) as ReviewDto).similarNames, [
      { kind: "vendor", slug: "lumen-medical", name: "Lumen Medical" },
    ]);
  });

  test("have the same skeleton, whatever letters they pose with, and other names don't", async () => {
    const alike = [
      [
        "PayPal",
        "paypal",
        "PAYPAL",
        "PayPaI",
        "PаyPаl",
        "РауРаl",
        "Ρayρal",
        "Ｐａｙｐａｌ",
        "𝓟𝓪𝔂𝓹𝓪𝓵",
        "Pay Pal",
        "Páypal™",
        "pay\u200bpal",
        "Ꮲaypal",
      ],
      ["modern", "rnodern", "мodern".replace("м", "m"), "MODERN", "m0dern"],
      ["Søren", "Soren", "Sören"],
      ["Здрав", "ЗДРАВ"],
    ];
    for (const names of alike) {
      const found = new Set(await skeletons(names));
      assert.equal(found.size, 1, [...found].join(" "));
    }
    const others = ["Quill", "Quilt", "Scribe", "Chart", "羽根", "ペン", "", "***"];
    const found = await skeletons(others);
    assert.equal(new Set(found.filter((skeleton) => skeleton !== "")).size, 6);
    // The longest name stays below what an index can hold.
    const [longest = ""] = await skeletons(["\u{1d4dc}".repeat(200)]);
    assert.equal(longest?.length, 200);
  });

  test("are found without reading all names", async () => {
    await withClient(marketplace.database.ownerUrl, async (client) => {
      await client.query(
        `insert into vendors (id, slug, name, created_at, updated_at)
         select gen_random_uuid(), 'many-' || nth, 'Vendor ' || nth, now(), now() from generate_series(1, 5000) as nth`,
      );
      await client.query("analyze vendors");
      await client.query("analyze apps");
    });
    const connected = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl);
    const name = { name: "VENDOR 4321", vendor_id: "00000000-0000-7000-8000-000000000000" };
    assert.deepEqual(await findSimilarNames(connected.database, name), [
      { kind: "vendor", slug: "many-4321", name: "Vendor 4321" },
    ]);
    const rows = await rowsRead(connected, (database) => findSimilarNames(database, name));
    assert.ok(rows < 500, `${rows} rows`);
  });
});
