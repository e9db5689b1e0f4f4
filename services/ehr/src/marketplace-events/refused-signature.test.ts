import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually } from "@ehr-marketplace/test-kit";
import { startEhrProcess } from "@ehr-marketplace/tests/support/service-process";
import { eventOf, riverside, send } from "./events.test-support.ts";

describe("the log of a refused signature", () => {
  const cleanUp = cleanUpAfter();
  let ehr: Awaited<ReturnType<typeof startEhrProcess>>;
  before(async () => {
    const { serviceUrl } = await cloneDatabase(cleanUp, "ehr");
    const environment = { LOG_LEVEL: "info" };
    ehr = await startEhrProcess(cleanUp, serviceUrl, { marketplaceUrl: "http://127.0.0.1:9", environment });
  });
  const event = eventOf({ what: "created", id: randomUUID(), at: Date.UTC(2026, 2, 18) });
  /** Sends an event of this organisation with a wrong secret, and returns its log entries. */
  const linesAbout = async (orgAlias: string): Promise<Record<string, unknown>[]> => {
    const body = { ...event, subscription: { ...event.subscription, orgAlias } };
    const requestId = randomUUID();
    const sending = { body, secret: "a secret of somebody else", headers: { "x-request-id": requestId } };
    assert.equal((await send(ehr.url, sending)).status, 401);
    const lines = (): Record<string, unknown>[] => ehr.logEntries.filter((line) => line["requestId"] === requestId);
    // A process writes log lines in order: once the next request is logged, all lines of this one are there.
    await fetch(`${ehr.url}/`, { headers: { "x-request-id": `after-${requestId}` } });
    await eventually("both are logged", 30_000, () => {
      const responded = ehr.logEntries.filter((line) => line["msg"] === "request completed");
      return [requestId, `after-${requestId}`].every((id) => responded.some((line) => line["requestId"] === id));
    });
    return lines();
  };

  test("contains the alias of a known organisation and the problem's code", async () => {
    const lines = await linesAbout(riverside);
    const responded = lines.find((line) => line["msg"] === "request completed");
    assert.deepEqual([responded?.["status"], responded?.["code"]], [401, "signature-refused"]);
    const others = lines.filter((line) => line !== responded);
    assert.deepEqual(
      others.map((line) => [line["level"], line["orgAlias"]]),
      [["warn", riverside]],
    );
    assert.match(String(others[0]?.["msg"]), /^refused the signature of an event; check that the marketplace has/);
    assert.doesNotMatch(JSON.stringify(lines), /somebody else|northwind-scribe/);
  });

  test("doesn't contain an unknown alias", async () => {
    const lines = await linesAbout("no-such-clinic");
    assert.deepEqual(
      lines.map((line) => line["msg"]),
      ["request completed"],
    );
    assert.doesNotMatch(JSON.stringify(lines), /no-such-clinic/);
  });
});
