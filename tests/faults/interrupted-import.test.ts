import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import {
  type Callers,
  fetchCallers,
  openImport,
  type ServiceProcess,
  sendImport,
  startApiProcess,
  startEhrProcess,
} from "@ehr-marketplace/tests/support";

const total = 3_000;
const secret = "a secret of an import";

interface Service {
  template: "demo" | "ehr";
  path: string;
  line: (index: number) => object;
  start: (
    cleanUp: ReturnType<typeof cleanUpAfter>,
    databaseUrl: string,
    options: { environment: Record<string, string> },
  ) => Promise<ServiceProcess>;
}

const services: Record<string, Service> = {
  "the marketplace": {
    template: "demo",
    path: "/api/v1/admin/organisations/import",
    line: (index) => ({ alias: `imported-${index}`, displayName: `Practice ${index}`, secret }),
    start: startApiProcess,
  },
  "the EHR service": {
    template: "ehr",
    path: "/api/admin/organisations/import",
    line: (index) => ({ alias: `imported-${index}`, secret }),
    start: (cleanUp, databaseUrl, options) =>
      startEhrProcess(cleanUp, databaseUrl, { ...options, marketplaceUrl: "http://127.0.0.1:9" }),
  },
};

for (const [name, { template, path, line, start }] of Object.entries(services)) {
  describe(`an import of ${name}`, () => {
    const lines = Array.from({ length: total }, (_, index) => line(index + 1));
    const prepare = async (cleanUp: ReturnType<typeof cleanUpAfter>, more: Record<string, string> = {}) => {
      const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, template);
      const callers: Callers = await fetchCallers();
      const environment = { ...callers.environment, LOG_LEVEL: "error", ...more };
      const startOne = (): Promise<ServiceProcess> => start(cleanUp, serviceUrl, { environment });
      /** The number of each stored line, as often as its organisation has audit entries. */
      const stored = (): Promise<number[]> =>
        withClient(ownerUrl, async (client) => {
          const { rows } = await client.query<{ number: number }>(
            `select substring(alias from 10)::int as number from organisations join audit_entries on on_behalf_of = alias
             where alias like 'imported-%' order by 1`,
          );
          return rows.map(({ number }) => number);
        });
      /** PostgreSQL may still commit a batch after the process is dead; its session ends then, and with it the lock. */
      const waitForSession = (): Promise<void> =>
        eventually("the session has ended", 60_000, () =>
          withClient(ownerUrl, async (client) => {
            const locks = `select from pg_locks join pg_database on oid = database
              where datname = current_database() and locktype = 'advisory'`;
            return (await client.query(locks)).rowCount === 0;
          }),
        );
      return { startOne, stored, waitForSession, token: callers.token("operator") };
    };
    const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

    test("killed with SIGKILL halfway has stored every line that it answered, and resumes after the last one", async (t) => {
      const { startOne, stored, waitForSession, token } = await prepare(cleanUpAfter(t));
      const victim = await startOne();
      const upload = openImport(`${victim.url}${path}`, token);
      // The end of the upload is held back, so that the import can't be complete.
      upload.write(lines.slice(0, 2_000));
      await eventually("a batch is answered", 60_000, async () => upload.results.length > 0);
      upload.write(lines.slice(2_000, 2_900));
      victim.child.kill("SIGKILL");
      await victim.exited;
      await upload.closed;
      await waitForSession();
      const answered = upload.results.length;
      assert.equal(upload.summary, undefined);
      assert.deepEqual(
        upload.results.map(({ line: number, status }) => [number, status]),
        upTo(answered).map((number) => [number, "created"]),
      );
      const kept = await stored();
      assert.deepEqual(kept, upTo(kept.length), "whole batches with their audit entries, and none twice");
      assert.ok(kept.length >= answered, `${answered} lines were answered, ${kept.length} are stored`);

      const { url } = await startOne();
      const { results, summary } = await sendImport(`${url}${path}?fromLine=${answered + 1}`, token, lines);
      assert.equal(results.length, total - answered);
      assert.deepEqual(summary, {
        lines: total,
        created: total - kept.length,
        updated: 0,
        unchanged: kept.length - answered,
        refused: 0,
      });
      assert.deepEqual(await stored(), upTo(total), "each line is stored and audited once");
    });

    test("ends after a batch on SIGTERM, and says where to go on", async (t) => {
      const { startOne, stored, token } = await prepare(cleanUpAfter(t));
      const service = await startOne();
      const upload = openImport(`${service.url}${path}`, token);
      upload.write(lines.slice(0, 700));
      await eventually("what was sent is answered", 60_000, async () => upload.results.length === 700);
      service.child.kill("SIGTERM");
      assert.equal(await service.exited, 0);
      await upload.closed;
      const { problem, ...counts } = upload.summary ?? assert.fail("there is no summary");
      assert.deepEqual(counts, { lines: 700, created: 700, updated: 0, unchanged: 0, refused: 0 });
      assert.equal(problem?.code, "unavailable");
      assert.deepEqual(await stored(), upTo(700));
    });

    test("may take longer than other requests, which are served meanwhile; a second import is refused", async (t) => {
      const { startOne, token } = await prepare(cleanUpAfter(t), { REQUEST_TIMEOUT_MS: "1000" });
      const { url } = await startOne();
      const upload = openImport(`${url}${path}`, token);
      const began = performance.now();
      let sent = 0;
      await eventually("three times the limit is over", 60_000, async () => {
        upload.write(lines.slice(sent, sent + 1));
        sent += 1;
        await eventually("the line is answered", 30_000, async () => upload.results.length === sent);
        const other = await fetch(`${url}${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
        });
        assert.equal(other.status, 409, await other.text());
        return performance.now() - began > 3_000;
      });
      upload.end();
      await upload.closed;
      assert.deepEqual([upload.summary?.created, upload.summary?.problem], [sent, undefined]);
      assert.equal((await sendImport(`${url}${path}`, token, lines.slice(0, 1))).summary.unchanged, 1);
    });
  });
}
