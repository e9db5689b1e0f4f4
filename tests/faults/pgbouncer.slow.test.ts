import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { makeTemporaryFolder } from "@ehr-marketplace/dev/postgres";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { type CleanUp, cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startApiProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";

/** Starts Debian's PgBouncer in front of the database, as docs/guides/marketplace-operator.md describes it. */
async function startPgBouncer(cleanUp: CleanUp, databaseUrl: string): Promise<string> {
  const target = new URL(databaseUrl);
  const folder = await makeTemporaryFolder("ehr-marketplace-pgbouncer-");
  cleanUp(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  const port = await freePort();
  const users = join(folder, "users.txt");
  await writeFile(users, `"${target.username}" "${target.password}"\n`);
  const settings = join(folder, "pgbouncer.ini");
  await writeFile(
    settings,
    `[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = session
default_pool_size = 40
`,
  );
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const pgbouncer = spawn("pgbouncer", ["-q", ...user, settings], { stdio: ["ignore", "inherit", "inherit"] });
  await once(pgbouncer, "spawn");
  cleanUp(async () => {
    const exited = once(pgbouncer, "exit");
    pgbouncer.kill("SIGKILL");
    await exited;
  });
  target.port = String(port);
  await eventually("PgBouncer listens", 60_000, () =>
    withClient(target.href, () => Promise.resolve(true)).catch(() => false),
  );
  return target.href;
}

test("API and worker work through PgBouncer in session mode: requests, jobs, notifications and the worker's session", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const callers = await fetchCallers();
  const receiver = await startReceiver(cleanUp);
  const practices = await registerPractices(ownerUrl, { count: 2, callbackUrl: receiver.url });
  const url = await startPgBouncer(cleanUp, serviceUrl);
  const environment = { ...callers.environment, LOG_LEVEL: "warn" };
  const api = await startApiProcess(cleanUp, url, { environment });
  const worker = await startWorkerProcess(cleanUp, url, { environment });
  const priced = await sendApiRequest(api.url, "/apps/northwind-scribe/pricing", undefined);
  const [plan] = (await priced.json()) as { id: string }[];

  for (const { alias: orgAlias } of practices) {
    const body = { appSlug: "northwind-scribe", orgAlias, pricingPlanId: plan?.id };
    const response = await sendApiRequest(api.url, "/subscriptions", callers.token("operator"), { body });
    assert.equal(response.status, 201, await response.text());
    await eventually("its event arrives", 60_000, () =>
      receiver.received.some(({ event }) => event.subscription.orgAlias === orgAlias),
    );
  }
  await withClient(ownerUrl, async (client) => {
    const ofProcesses = (kind: string): Promise<number | null> =>
      client
        .query("select from pg_stat_activity where datname = current_database() and application_name like $1", [kind])
        .then(({ rowCount }) => rowCount);
    assert.equal(await ofProcesses("marketplace-% listener"), 2);
    assert.equal(await ofProcesses("marketplace-worker session"), 1);
    const { rowCount } = await client.query("select from pg_locks where locktype = 'advisory' and granted");
    assert.ok(rowCount !== null && rowCount >= 1, "the worker holds its lock");
  });
  for (const { logEntries } of [api, worker]) {
    assert.deepEqual(
      logEntries.filter(({ msg }) => /reconnecting|unavailable|failed to start the queue/.test(String(msg))),
      [],
    );
  }
});
