import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { logMessage } from "./log-message.ts";

/** What the local stack shows of what a service logs. */
function shown(log: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  log(createLogger({ service: "ehr", level: "info" }, { write: (line) => void lines.push(line) }));
  return logMessage("ehr", JSON.parse(lines[0] ?? "") as object);
}

test("a line in the local stack has its message", () => {
  assert.equal(
    shown((logger) => logger.info({ status: 200 }, "answered")),
    "ehr: answered",
  );
});

test("a line in the local stack says why something failed, causes included", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const error = new Error("fetch failed", { cause: refused });
  assert.equal(
    shown((logger) => logger.error({ err: error, orgAlias: "lakeside-clinic" }, "an organisation can't be reconciled")),
    "ehr: an organisation can't be reconciled: fetch failed: connect ECONNREFUSED",
  );
  assert.equal(
    shown((logger) => logger.error({ err: new AggregateError([refused]) }, "failed")),
    "ehr: failed: no message",
  );
});
