import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto } from "@ehr-marketplace/contracts";
import { measureRelevance, reportedQueries, tuningQueries } from "@ehr-marketplace/dev/search-relevance";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { type RunningMarketplace, startMarketplace } from "@ehr-marketplace/tests/support/marketplace";

describe("The relevance of search on the demo catalog", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: RunningMarketplace;
  before(async () => {
    marketplace = await startMarketplace(cleanUp, (await cloneDatabase(cleanUp, "demo")).serviceUrl);
  });
  const search = async (query: string): Promise<string[]> => {
    const response = await marketplace.get(`/apps/search?q=${encodeURIComponent(query)}`);
    return ((await response.json()) as AppDto[]).map(({ slug }) => slug);
  };

  for (const [name, queries] of Object.entries({ "tuned on": tuningQueries, reported: reportedQueries })) {
    test(`success@3 is at least 0.92 and MRR at least 0.88 for the queries ${name}`, async (t) => {
      const { success, mrr, missed } = await measureRelevance(queries, search);
      t.diagnostic(`${queries.length} queries: success@3 ${success.toFixed(3)}, MRR ${mrr.toFixed(3)}`);
      const explained = JSON.stringify(missed, undefined, 1);
      assert.ok(success >= 0.92, `success@3 is ${success.toFixed(3)}: ${explained}`);
      assert.ok(mrr >= 0.88, `MRR is ${mrr.toFixed(3)}: ${explained}`);
    });
  }

  test("the judged queries are at least 120, and name only apps of the catalog", async () => {
    const judged = [...tuningQueries, ...reportedQueries];
    assert.ok(judged.length >= 120);
    const page = (await (await marketplace.get("/apps?size=100")).json()) as { content: AppDto[] };
    const known = new Set(page.content.map(({ slug }) => slug));
    assert.deepEqual(
      judged.flatMap(({ relevant }) => relevant).filter((slug) => !known.has(slug)),
      [],
    );
  });

  for (const [query, ...expected] of [
    ["telehelth", "northwind-visits"],
    ["telehealth", "northwind-visits"],
    ["cardiology", "ten-year-heart", "lumen-twelve-lead"],
    ["cardiolgy", "ten-year-heart", "lumen-twelve-lead"],
    ["billing", "tallowmere-claims", "denial-garden", "paper-lantern-statements"],
    ["no-show", "lumen-reminders", "waitlist-wren"],
    ["sms", "lumen-reminders", "waitlist-wren", "senal-messages", "paper-lantern-statements", "small-applause"],
    ["erx", "refill-robin", "formulary-fox", "gullhaven-prior-auth", "antibiotic-almanac"],
    ["rpm", "cuffline", "slumber-log"],
    ["cds", "ten-year-heart", "renal-rudder", "northwind-watch", "antibiotic-almanac"],
    ["hipaa", "consent-ledger"],
    ["prescription", "refill-robin", "formulary-fox", "gullhaven-prior-auth", "antibiotic-almanac"],
  ] as const) {
    test(`"${query}" shows ${expected.join(" or ")} first`, async () => {
      const [first = "nothing", ...others] = await search(query);
      assert.ok((expected as readonly string[]).includes(first), [first, ...others.slice(0, 3)].join(", "));
    });
  }
});
