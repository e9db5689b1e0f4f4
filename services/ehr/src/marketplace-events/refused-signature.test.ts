import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, startEhrProcess } from "@ehr-marketplace/tests/support";
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
  /** Sends an event of this organisation with a wrong secret, and returns what is logged of it. */
  const linesAbout = async (orgAlias: string): Promise<Record<string, unknown>[]> => {
    const body = { ...event, subscription: { ...event.subscription, orgAlias } };
    const requestId = randomUUID();
    const sending = { body, secret: "a secret of somebody else", headers: { "x-request-id": requestId } };
    assert.equal((await send(ehr.url, sending)).status, 401);
    const lines = (): Record<string, unknown>[] => ehr.logged.filter((line) => line["requestId"] === requestId);
    // In one process lines are written in order: with the next request's line, all of this one's are there.
    await fetch(`${ehr.url}/health/live`, { headers: { "x-request-id": `after-${requestId}` } });
    await eventually("both are logged", 10_000, () => {
      const answered = ehr.logged.filter((line) => line["msg"] === "answered");
      return [requestId, `after-${requestId}`].every((id) => answered.some((line) => line["requestId"] === id));
    });
    return lines();
  };

  test("names the organisation where it is known, and the code of the problem", async () => {
    const lines = await linesAbout(riverside);
    const answered = lines.find((line) => line["msg"] === "answered");
    assert.deepEqual([answered?.["status"], answered?.["code"]], [401, "signature-refused"]);
    const others = lines.filter((line) => line !== answered);
    assert.deepEqual(
      others.map((line) => [line["level"], line["orgAlias"]]),
      [["warn", riverside]],
    );
    assert.match(String(others[0]?.["msg"]), /^refused the signature of an event; check that the marketplace has/);
    assert.doesNotMatch(JSON.stringify(lines), /somebody else|northwind-scribe/);
  });

  test("doesn't repeat an alias that nobody has", async () => {
    const lines = await linesAbout("no-such-clinic");
    assert.deepEqual(
      lines.map((line) => line["msg"]),
      ["answered"],
    );
    assert.doesNotMatch(JSON.stringify(lines), /no-such-clinic/);
  });
});
