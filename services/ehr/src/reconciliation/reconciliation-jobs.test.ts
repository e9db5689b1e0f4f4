import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, cloneDatabase, eventually } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { reconciliations } from "../queues.ts";
import { MarketplaceRefusalError } from "./reconciliation-errors.ts";
import { workReconciliations } from "./reconciliation-jobs.ts";

test("a refusal of the marketplace is logged with the organisation and the reason, without a stack", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const connected = await connectAsService<DB>(cleanUp, (await cloneDatabase(cleanUp, "ehr")).serviceUrl);
  const logged: Record<string, unknown>[] = [];
  const logger = createLogger({ service: "test", level: "warn" }, { write: (line) => logged.push(JSON.parse(line)) });
  const boss = connected.queue.boss();
  const reason = "the marketplace refuses this service's token for riverside-clinic";
  await workReconciliations(boss, {
    ...connected,
    logger,
    countCorrections: () => assert.fail("nothing is reconciled"),
    countSkipped: () => assert.fail("nothing is reconciled"),
    listSubscriptions: () => Promise.reject(new MarketplaceRefusalError(reason)),
  });
  await boss.send(reconciliations, { alias: "riverside-clinic" });
  await eventually("the refusal is logged", 20_000, () => logged.length > 0);
  const [{ time: _time, service: _service, ...line } = {}] = logged;
  assert.deepEqual(line, {
    level: "error",
    orgAlias: "riverside-clinic",
    reason,
    msg: "the marketplace refused to reconcile an organisation; retrying in the nightly run",
  });
});
