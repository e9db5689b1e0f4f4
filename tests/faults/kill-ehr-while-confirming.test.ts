import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { startEhrProcess } from "@ehr-marketplace/tests/support/service-process";
import { signBody } from "@ehr-marketplace/webhook-signature";

const slug = "northwind-scribe";

test("after kill -9 between storing an app and installing it, the next process installs it", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const marketplace = await startMarketplace(cleanUp, (await cloneDatabase(cleanUp, "demo")).serviceUrl);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "ehr");
  const options = { marketplaceUrl: marketplace.url, environment: { LOG_LEVEL: "error" } };
  const [practice] = demoOrganisations;
  const { alias, secret } = practice ?? assert.fail("no demo organisation");
  const rowsOf = (statement: string): Promise<unknown[]> =>
    withClient(ownerUrl, async (client) => (await client.query(statement)).rows);

  // The lock on the app delays storing it, so that the test can lock the organisation first.
  const victim = await startEhrProcess(cleanUp, serviceUrl, options);
  await withClient(ownerUrl, async (appLock) => {
    await appLock.query("begin");
    await appLock.query("insert into apps (slug, updated_at) values ($1, now())", [slug]);
    await appLock.query("commit");
    await appLock.query("begin");
    await appLock.query("select from apps where slug = $1 for share", [slug]);
    const body = JSON.stringify({
      event: "subscription.created",
      app: { slug },
      subscription: { id: randomUUID(), status: "active", orgAlias: alias },
      timestamp: new Date().toISOString(),
    });
    const sent = await fetch(`${victim.url}/api/internal/marketplace-webhook`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-marketplace-signature": signBody(body, secret),
        "x-marketplace-delivery-id": "one",
      },
      body,
    });
    assert.equal(sent.status, 200, await sent.text());
    await withClient(ownerUrl, async (organisationLock) => {
      await organisationLock.query("begin");
      await organisationLock.query("select from organisations where alias = $1 for update", [alias]);
      await appLock.query("commit");
      await eventually(
        "the app is stored",
        20_000,
        async () => (await rowsOf("select from apps where schema_known")).length === 1,
      );
      await eventually("the confirmation waits for the organisation", 20_000, async () => {
        const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        return (await rowsOf(waiting)).length > 0;
      });
      victim.child.kill("SIGKILL");
      await victim.exited;
      await organisationLock.query("commit");
    });
  });
  assert.deepEqual(await rowsOf("select * from installations"), []);
  assert.deepEqual(await rowsOf("select status, confirmed_at from subscriptions"), [
    { status: "active", confirmed_at: null },
  ]);

  await startEhrProcess(cleanUp, serviceUrl, options);
  await eventually(
    "the app is installed without a further request",
    60_000,
    async () => (await rowsOf("select from installations where status = 'active'")).length === 1,
  );
});
