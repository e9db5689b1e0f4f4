import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { UsageAggregation, UsageGranularity, UsageRecord } from "@ehr-marketplace/contracts";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, rounds, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import fc from "fast-check";
import type { VendorContext } from "../access/vendor-context.ts";
import { highUsageLimits } from "../billing/usage-limits.test-support.ts";
import type { DB } from "../database-schema.ts";
import { formatQuantity, parseQuantity } from "./decimal.ts";
import { readUsage } from "./read-usage.ts";
import { reportUsage } from "./report-usage.ts";

const aggregations: UsageAggregation[] = ["SUM", "COUNT", "MAX", "LATEST"];
const day = 86_400_000;

/** A counted record that was not taken back. */
interface Counted {
  id: string;
  time: number;
  quantity: bigint;
}

const bucketOf = (time: number, granularity: UsageGranularity): string =>
  new Date(time).toISOString().slice(0, { hour: 13, day: 10, month: 7 }[granularity]);

function aggregate(records: Counted[], aggregation: UsageAggregation): string {
  const quantities = records.map(({ quantity }) => quantity);
  const compare = (a: Counted, b: Counted): number => a.time - b.time || (a.id < b.id ? -1 : 1);
  switch (aggregation) {
    case "SUM":
      return formatQuantity(quantities.reduce((sum, quantity) => sum + quantity, 0n));
    case "COUNT":
      return String(records.length);
    case "MAX":
      return formatQuantity(quantities.reduce((a, b) => (a > b ? a : b)));
    case "LATEST":
      return formatQuantity(records.toSorted(compare).at(-1)?.quantity ?? 0n);
  }
}

describe("sums of usage equal those of the records themselves", () => {
  const cleanUp = cleanUpAfter();
  let connected: ServiceConnection<DB>;
  let ownerUrl: string;
  let vendor: VendorContext;
  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    connected = await connectAsService<DB>(cleanUp, cloned.serviceUrl);
    const caller = {
      issuer: "https://idp.example",
      subject: "developer",
      roles: new Set(["vendor-developer"]),
      vendors: new Set(["northwind-health"]),
      organisations: new Map(),
      ignoredRoleReasons: [],
    } as unknown as VendorContext["caller"];
    vendor = { caller, requestId: "test", vendor: "northwind-health", role: "vendor-developer" };
  });

  /** A subscription with a plan of the aggregation, which began long before. */
  const subscribe = async (aggregation: UsageAggregation, began: Date): Promise<string> => {
    const [practice] = await registerPractices(ownerUrl, {
      count: 1,
      callbackUrl: "http://127.0.0.1:9",
      prefix: crypto.randomUUID(),
    });
    return withClient(ownerUrl, async (client) => {
      const { rows } = await client.query<{ id: string }>(
        `with plan as (
           insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, interval, metric, aggregation, published_at)
           select mint_uuid(), id, 9, mint_uuid()::text, '', 'USAGE', 'USD', 1, 'MONTH', 'notes', $1, now() from apps where slug = 'northwind-scribe'
           returning id, app_id
         )
         insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision, fhir_scopes)
         select mint_uuid(), $2, app_id, id, 'active', $3, $3, 1, '' from plan returning id`,
        [aggregation, practice?.id, began],
      );
      return rows[0]?.id ?? assert.fail();
    });
  };

  /** Reports random records, voids and repetitions in random batches, and compares every bucket. */
  const compare = async (now: Date, aggregation: UsageAggregation, steps: Step[]): Promise<void> => {
    const id = await subscribe(aggregation, new Date(now.getTime() - 400 * day));
    let clock = now.getTime();
    const deps = { ...connected, usageLimits: highUsageLimits, clock: () => new Date(clock) };
    const counted = new Map<string, Counted>();
    const used = new Set<string>();
    for (const batch of steps) {
      // A batch each second, so that none is too many.
      clock += 1_000;
      const records = batch.map(({ number, minutesAgo, quantity, isVoid }): UsageRecord => {
        const occurredAt = new Date(now.getTime() - minutesAgo * 60_000).toISOString();
        return { id: `r${number}`, occurredAt, ...(isVoid ? { void: true } : { metric: "notes", quantity }) };
      });
      const { results } = await reportUsage(deps, vendor, id, records);
      for (const [index, record] of records.entries()) {
        const key = `${record.occurredAt.slice(0, 10)} ${record.id}`;
        const isAccepted = results[index]?.status === "accepted";
        if (record.void === true) {
          assert.equal(isAccepted, counted.delete(key), `void of ${key}`);
        } else {
          assert.equal(isAccepted, !used.has(key), `${key}: ${JSON.stringify(results[index])}`);
          const quantity = parseQuantity(record.quantity ?? "") ?? assert.fail();
          if (isAccepted) counted.set(key, { id: record.id, time: Date.parse(record.occurredAt), quantity });
          used.add(key);
        }
      }
    }
    for (const granularity of ["hour", "day", "month"] as const) {
      const span = granularity === "hour" ? 30 * day : 36 * day;
      const from = new Date(now.getTime() - span);
      const query = { granularity, from: from.toISOString(), to: new Date(now.getTime() + 1).toISOString() };
      const caller = { ...vendor.caller };
      const { items } = await readUsage(deps, caller, id, undefined, query);
      const first = bucketOf(from.getTime(), granularity);
      const expected = Map.groupBy(counted.values(), ({ time }) => bucketOf(time, granularity));
      assert.deepEqual(
        items.map((item) => [bucketOf(Date.parse(item.from), granularity), item.quantity]),
        [...expected]
          .filter(([bucket]) => bucket >= first)
          .map(([bucket, records]) => [bucket, aggregate(records, aggregation)])
          .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
        `${aggregation} by ${granularity}`,
      );
    }
  };

  interface Operation {
    number: number;
    minutesAgo: number;
    quantity: string;
    isVoid: boolean;
  }
  type Step = Operation[];
  // Few ids and times, so that records meet: repeated, voided, in the same hour, at the same time.
  const minutesAgo = fc.oneof(
    fc.constantFrom(0, 1, 59, 60, 61, 1_440, 2_880, 43_200),
    fc.integer({ min: 0, max: 35 * 1_440 - 10 }),
  );
  const operation = fc.record({
    number: fc.nat({ max: 40 }),
    minutesAgo,
    quantity: fc
      .tuple(fc.nat({ max: 50 }), fc.nat({ max: 999_999 }))
      .map(([whole, decimals]) => `${whole}.${String(decimals).padStart(6, "0")}`),
    isVoid: fc.boolean(),
  });
  const batches = fc.array(fc.array(operation, { minLength: 1, maxLength: 80 }), { minLength: 1, maxLength: 6 });

  for (const [what, text] of [
    ["at the end of a leap year's February", "2028-03-01T00:10:00.000Z"],
    ["at a new year", "2027-01-01T00:00:00.000Z"],
    ["when Europe's clocks change", "2027-03-28T01:30:00.000Z"],
  ] as const) {
    for (const aggregation of aggregations) {
      test(`${aggregation}, ${what}, by hour, day and month`, async () => {
        const now = new Date(text);
        await withClient(ownerUrl, (client) =>
          client.query("select prepare_usage_partitions($1)", [text.slice(0, 10)]),
        );
        await fc.assert(
          fc.asyncProperty(batches, (steps) => compare(now, aggregation, steps)),
          { numRuns: rounds(4, 40) },
        );
      });
    }
  }
});
