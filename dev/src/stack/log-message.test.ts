import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { logMessage } from "./log-message.ts";

/** Returns the message that the local stack prints for a log call. */
function formatLog(log: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  log(createLogger({ service: "ehr", level: "info" }, { write: (line) => void lines.push(line) }));
  return logMessage("ehr", JSON.parse(lines[0] ?? "") as object);
}

test("a line of the local stack shows the message", () => {
  assert.equal(
    formatLog((logger) => logger.info({ status: 200 }, "request completed")),
    "ehr: request completed",
  );
});

test("a line of the local stack shows the error and its causes", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const error = new Error("fetch failed", { cause: refused });
  assert.equal(
    formatLog((logger) =>
      logger.error({ err: error, orgAlias: "lakeside-clinic" }, "failed to reconcile organisation"),
    ),
    "ehr: failed to reconcile organisation: fetch failed: connect ECONNREFUSED",
  );
  assert.equal(
    formatLog((logger) => logger.error({ err: new AggregateError([refused]) }, "failed")),
    "ehr: failed: no message",
  );
});
