import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import {
  type CleanUp,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  rounds,
  timeLimitMs,
  withClient,
} from "@ehr-marketplace/test-kit";
import { insertBilledSubscriptions, readClosedStatements } from "@ehr-marketplace/tests/support/billed-subscriptions";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { startApiProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";

const fixture = new URL("./kill-after-commit.test-fixture.ts", import.meta.url).href;
const kills = rounds(3, 20);
const practices = 400;
const closedMonths = 5;
const environment = { LOG_LEVEL: "error" };

/** The first day of the month so many months ago. */
const monthsAgo = (count: number): Date => {
  const now = new Date();
  // The month that was over three days ago is closed already.
  const closable = new Date(now.getTime() - 3 * 86_400_000);
  return new Date(Date.UTC(closable.getUTCFullYear(), closable.getUTCMonth() - count, 1));
};
const months = Array.from({ length: closedMonths }, (_, index) =>
  monthsAgo(closedMonths - index)
    .toISOString()
    .slice(0, 7),
);

async function readStreams(cleanUp: CleanUp, serviceUrl: string): Promise<string[]> {
  const callers = await fetchCallers();
  const api = await startApiProcess(cleanUp, serviceUrl, {
    environment: { ...callers.environment, ...patientLimits, ...environment },
  });
  const texts: string[] = [];
  for (const month of months) {
    const response = await sendApiRequest(api.url, `/admin/statements/${month}`, callers.token("operator"));
    assert.equal(response.status, 200);
    texts.push(await response.text());
  }
  return texts;
}

test("a worker that is killed again and again while it closes months closes them to the same bytes as an undisturbed one", {
  timeout: timeLimitMs(kills, 60),
}, async (t) => {
  const cleanUp = cleanUpAfter(t);
  const source = await cloneDatabase(cleanUp, "demo");
  await insertBilledSubscriptions(source.ownerUrl, practices, monthsAgo(closedMonths));
  const [undisturbed, disturbed] = [
    await cloneDatabase(cleanUp, "demo", { source }),
    await cloneDatabase(cleanUp, "demo", { source }),
  ];
  const countSteps = async (ownerUrl: string): Promise<string> =>
    withClient(ownerUrl, async (client) => {
      const { rows } = await client.query<{ state: string }>(
        "select coalesce(string_agg(month || status || phase || done || coalesce(cursor::text, ''), ' ' order by month), '') as state from statement_months",
      );
      return rows[0]?.state ?? "";
    });
  const isClosed = async (ownerUrl: string): Promise<boolean> =>
    withClient(ownerUrl, async (client) => {
      const { rows } = await client.query("select from statement_months where status = 'closed'");
      return rows.length === closedMonths;
    });
  const untilClosed = (ownerUrl: string): Promise<void> =>
    eventually("the months are closed", 120_000, () => isClosed(ownerUrl));

  const calm = await startWorkerProcess(cleanUp, undisturbed.serviceUrl, { environment });
  await untilClosed(undisturbed.ownerUrl);
  calm.child.kill("SIGTERM");
  await calm.exited;

  let interrupted = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const before = await countSteps(disturbed.ownerUrl);
    const wasClosed = await isClosed(disturbed.ownerUrl);
    // After a commit, or within the next step. It may be killed before it is ready.
    const killed = await startWorkerProcess(cleanUp, disturbed.serviceUrl, {
      environment: {
        ...environment,
        KILL_TABLE: "statement_months",
        KILL_AFTER_COMMITS: String(randomInt(1, 4)),
        KILL_DELAY_MS: String(kill % 2 === 0 ? 0 : randomInt(1, 60)),
      },
      nodeOptions: ["--import", fixture],
    }).catch(() => undefined);
    await killed?.exited;
    if (!wasClosed && (await countSteps(disturbed.ownerUrl)) !== before) interrupted += 1;
  }
  t.diagnostic(`${interrupted} of ${kills} workers were killed while they closed months`);
  assert.ok(interrupted >= kills / 2);
  await startWorkerProcess(cleanUp, disturbed.serviceUrl, { environment });
  await untilClosed(disturbed.ownerUrl);

  const expected = await readClosedStatements(undisturbed.ownerUrl);
  assert.ok(expected.split("\n").length > 5_000);
  assert.equal(await readClosedStatements(disturbed.ownerUrl), expected);
  const streams = await readStreams(cleanUp, undisturbed.serviceUrl);
  assert.deepEqual(await readStreams(cleanUp, disturbed.serviceUrl), streams);
  for (const stream of streams) {
    assert.match(stream, /\{"type":"end".*\}\n$/);
    const lines = stream
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; currency: string; total: number; gross: number });
    const sumOf = (type: string, currency: string): number =>
      lines
        .filter((line) => line.type === type && line.currency === currency)
        .reduce((sum, line) => sum + (type === "vendor" ? line.gross : line.total), 0);
    for (const currency of ["USD", "EUR"]) {
      assert.ok(sumOf("statement", currency) > 0);
      assert.equal(sumOf("vendor", currency), sumOf("statement", currency), "vendors earn what organisations owe");
    }
  }
});
