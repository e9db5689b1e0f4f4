import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { dropOldUsage, prepareUsagePartitions } from "./usage-partitions.ts";

describe("the partitions of usage records", () => {
  const cleanUp = cleanUpAfter();
  let connected: ServiceConnection<DB>;
  let urls: { ownerUrl: string; serviceUrl: string };
  before(async () => {
    urls = await cloneDatabase(cleanUp, "empty");
    connected = await connectAsService<DB>(cleanUp, urls.serviceUrl);
  });
  const daysBefore = (days: number): Date => new Date(Date.now() - days * 86_400_000);
  const listDays = async (): Promise<string[]> => {
    const { rows } = await withClient(urls.ownerUrl, (client) =>
      client.query<{ day: string }>(
        "select right(inhrelid::regclass::text, 8) as day from pg_inherits where inhparent = 'usage_records'::regclass order by 1",
      ),
    );
    return rows.map(({ day }) => day);
  };
  const nameOf = (time: Date): string => time.toISOString().slice(0, 10).replaceAll("-", "");

  test("reach from 36 days ago to a week ahead, and are made once", async () => {
    await prepareUsagePartitions(connected.database, new Date());
    await Promise.all([1, 2, 3].map(() => prepareUsagePartitions(connected.database, new Date())));
    const days = await listDays();
    assert.ok(days.includes(nameOf(daysBefore(36))) && days.includes(nameOf(daysBefore(-7))));
  });

  test("are dropped after 13 months, and not before", async () => {
    const old = daysBefore(450);
    await prepareUsagePartitions(connected.database, old);
    assert.ok((await listDays()).includes(nameOf(old)));
    const kept = (await listDays()).filter((day) => day >= nameOf(daysBefore(380)));
    await dropOldUsage(connected.database);
    assert.deepEqual(await listDays(), kept);
  });

  test("can't be dropped earlier by the service", async () => {
    for (const day of [nameOf(daysBefore(390)), nameOf(new Date()), "infinity"]) {
      await assert.rejects(
        withClient(urls.serviceUrl, (client) => client.query("select drop_usage_partition($1)", [day])),
        /is not old enough/,
      );
    }
    await assert.rejects(
      withClient(urls.serviceUrl, (client) => client.query(`drop table usage_records_${nameOf(new Date())}`)),
      /must be owner/,
    );
  });
});
