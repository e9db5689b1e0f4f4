import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { type CleanUp, cleanUpAfter, cloneDatabase, eventually } from "@ehr-marketplace/test-kit";
import { startApiProcess, startEhrProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";

type Options = { environment: Record<string, string> };
const startEhr = (cleanUp: CleanUp, url: string, options: Options) =>
  startEhrProcess(cleanUp, url, { ...options, marketplaceUrl: "http://127.0.0.1:9" });
const randomKey = (version: number): string => `${version}:${randomBytes(32).toString("base64")}`;

for (const [name, template, serviceRole, start] of [
  ["the marketplace's API", "demo", "marketplace_service", startApiProcess],
  ["the marketplace's worker", "demo", "marketplace_service", startWorkerProcess],
  ["the EHR service", "ehr", "ehr_service", startEhr],
] as const) {
  describe(`at its start, ${name}`, () => {
    test("warns of a login that owns the tables, and names the role to use", async (t) => {
      const cleanUp = cleanUpAfter(t);
      const { ownerUrl } = await cloneDatabase(cleanUp, template);
      const { logEntries } = await start(cleanUp, ownerUrl, { environment: {} });
      const message = `the login of DATABASE_URL owns the tables, so nothing restricts it; use a login with only the role ${serviceRole}`;
      await eventually("it is logged", 60_000, () => logEntries.some(({ msg }) => msg === message));
    });

    for (const [what, keys, reason] of [
      ["a missing version of ENCRYPTION_KEYS", randomKey(2), /^ENCRYPTION_KEYS lacks version 1,/],
      ["another key with the version of a stored secret", randomKey(1), /^an encrypted secret can't be decrypted/],
    ] as const) {
      test(`logs ${what} once, with a row that needs it`, async (t) => {
        const cleanUp = cleanUpAfter(t);
        const { serviceUrl } = await cloneDatabase(cleanUp, template);
        const { logEntries } = await start(cleanUp, serviceUrl, { environment: { ENCRYPTION_KEYS: keys } });
        const failures = () =>
          logEntries.filter(
            ({ msg }) => msg === "failed to decrypt a stored secret; correct ENCRYPTION_KEYS and restart",
          );
        await eventually("it is logged", 60_000, () => failures().length > 0);
        const [entry, ...others] = failures() as { column: string; row: string; err: { message: string } }[];
        assert.deepEqual(others, []);
        assert.match(entry?.err.message ?? "", reason);
        assert.equal(entry?.column, "organisations.encrypted_secret");
        assert.ok(entry.row !== "");
      });
    }

    test("logs no warning if login and keys are correct", async (t) => {
      const cleanUp = cleanUpAfter(t);
      const { serviceUrl } = await cloneDatabase(cleanUp, template);
      const running = await start(cleanUp, serviceUrl, { environment: {} });
      running.child.kill("SIGTERM");
      assert.equal(await running.exited, 0);
      const about = /owns the tables|failed to decrypt/;
      assert.deepEqual(
        running.logEntries.filter(({ msg }) => about.test(String(msg))),
        [],
      );
    });
  });
}
