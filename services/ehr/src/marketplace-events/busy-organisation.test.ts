import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { install } from "../installations/installations.test-support.ts";
import { eventOf, hilltop, riverside, send, storeApps } from "./events.test-support.ts";

const sentAtOnce = 200;
const withinMs = 30_000;

test("200 concurrent events of one organisation use two connections, and another organisation's launches succeed", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const callers = await fetchCallers();
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
  // On a busy machine, those that wait for the lock would otherwise give up meanwhile.
  const environment = { ...callers.environment, ...patientLimits, DATABASE_POOL_SIZE: "10" };
  const ehr = await startEhr(cleanUp, serviceUrl, environment);
  const theirs = await install(ownerUrl, { orgAlias: hilltop });
  await storeApps(ownerUrl, ["northwind-scribe"]);
  const launch = async (): Promise<number> => {
    const path = `${ehr.url}/api/app-installations/${theirs}/launch`;
    return (await sendRequest(path, callers.token("hilltop-admin"), { method: "POST", body: { launchType: "native" } }))
      .status;
  };

  const statuses: number[] = [];
  const isRefused = (status: number): boolean => status === 429;
  let sent: Promise<unknown> = Promise.resolve();
  await withClient(ownerUrl, async (locker) => {
    const waitingForLock = async (): Promise<number> => {
      const { rows } = await locker.query<{ count: number }>(
        `select count(*)::integer as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0]?.count ?? 0;
    };
    await locker.query("begin");
    await locker.query("select from organisations where alias = $1 for update", [riverside]);
    const events = Array.from({ length: sentAtOnce }, (_, nth) =>
      send(ehr.url, { body: eventOf({ what: "created", id: randomUUID(), at: Date.now() - nth }) }),
    );
    sent = Promise.all(events.map((event) => event.then(({ status }) => statuses.push(status))));
    await eventually("most are refused at once", withinMs, () => statuses.filter(isRefused).length >= sentAtOnce - 60);
    await eventually("two wait for the lock", withinMs, async () => (await waitingForLock()) === 2);
    for (let nth = 0; nth < 20; nth += 1) {
      const [status, waiting] = await Promise.all([launch(), waitingForLock()]);
      assert.deepEqual([status, waiting <= 2], [200, true]);
    }
    await locker.query("commit");
  });
  await sent;
  assert.ok(statuses.includes(200), "those that waited are applied once the lock is free");
});
