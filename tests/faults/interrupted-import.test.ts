import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { ImportResult } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers } from "@ehr-marketplace/tests/support/callers";
import { sendImport } from "@ehr-marketplace/tests/support/send-import";
import { type ServiceProcess, startApiProcess, startEhrProcess } from "@ehr-marketplace/tests/support/service-process";

const [partCount, linesPerPart, kills] = [10, 200, 4];
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
  test(`${name}, killed with SIGKILL during imports, stores each line once if failed parts are repeated`, async (t) => {
    const cleanUp = cleanUpAfter(t);
    const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, template);
    const callers = await fetchCallers();
    const environment = { ...callers.environment, LOG_LEVEL: "error" };
    let service = await start(cleanUp, serviceUrl, { environment });
    const parts = Array.from({ length: partCount }, (_, part) =>
      Array.from({ length: linesPerPart }, (_each, index) => line(part * linesPerPart + index + 1)),
    );
    const send = (part: object[]): Promise<ImportResult[]> =>
      sendImport(`${service.url}${path}`, callers.token("operator"), part);
    /** The number of each stored line, as often as its organisation has audit entries. */
    const stored = (): Promise<number[]> =>
      withClient(ownerUrl, async (client) => {
        const { rows } = await client.query<{ number: number }>(
          `select substring(alias from 10)::int as number from organisations join audit_entries on on_behalf_of = alias
           where alias like 'imported-%' order by 1`,
        );
        return rows.map(({ number }) => number);
      });

    const isStored = ({ status }: ImportResult): boolean => status === "created" || status === "unchanged";
    let [killed, repeated, tookMs] = [0, 0, 0];
    for (let next = 0; next < partCount; ) {
      const began = performance.now();
      const sent = send(parts[next] ?? []).catch((error: unknown) => error as Error);
      // The first part shows how long a part takes, so that a kill hits any moment of one.
      const isVictim = next > 0 && killed < kills;
      if (isVictim) {
        await Promise.race([sent, delay(randomInt(Math.ceil(tookMs)))]);
        service.child.kill("SIGKILL");
        await service.exited;
      }
      const results = await sent;
      if (results instanceof Error) {
        if (!isVictim) throw results;
        repeated += 1;
      } else {
        assert.deepEqual([results.length, results.every(isStored)], [linesPerPart, true]);
        if (!isVictim) tookMs = performance.now() - began;
        next += 1;
      }
      if (isVictim) {
        killed += 1;
        service = await start(cleanUp, serviceUrl, { environment });
      }
    }
    t.diagnostic(`${killed} kills, ${repeated} parts repeated`);
    const total = partCount * linesPerPart;
    assert.deepEqual(
      await stored(),
      Array.from({ length: total }, (_, index) => index + 1),
    );
  });
}
