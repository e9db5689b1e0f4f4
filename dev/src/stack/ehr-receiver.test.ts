import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/tests/support";
import { demoOrganisations } from "../demo-data/demo-organisations.ts";
import { freePort } from "../free-port.ts";
import { type EhrReceiver, startEhrReceiver } from "./ehr-receiver.ts";

const [riverside, hilltop] = demoOrganisations;
const event = JSON.stringify({
  event: "subscription.created",
  app: { slug: "northwind-scribe" },
  subscription: { id: "1", status: "active", orgAlias: "riverside-clinic" },
});
const signed = (body: string, secret = riverside?.secret ?? ""): string =>
  createHmac("sha256", secret).update(body).digest("hex");

describe("the receiver in place of the EHR", () => {
  const cleanUp = cleanUpAfter();
  const printed: string[] = [];
  let receiver: EhrReceiver;
  before(async () => {
    receiver = await startEhrReceiver(await freePort(), (line) => printed.push(line));
    cleanUp(() => receiver.stop());
  });
  const send = async (body: string, signature: string, method = "POST"): Promise<number> => {
    const url = `${receiver.url}/api/internal/marketplace-webhook`;
    const headers = { "x-marketplace-signature": signature };
    return (await fetch(url, { method, headers, ...(method === "POST" ? { body } : {}) })).status;
  };

  test("answers 204 to what is signed with the organisation's secret, and prints it", async () => {
    assert.equal(await send(event, signed(event)), 204);
    assert.match(
      printed.at(-1) ?? "",
      /riverside-clinic heard: subscription.created {2}northwind-scribe {2}active {2}1/,
    );
  });

  for (const [what, body, signature] of [
    ["changed on its way", event.replace("active", "paused"), signed(event)],
    ["signed with another organisation's secret", event, signed(event, hilltop?.secret)],
    ["of an organisation that it doesn't know", event.replace("riverside", "elsewhere"), signed(event)],
    ["not signed", event, ""],
    ["no event at all", "[null", signed("[null")],
  ] as const) {
    test(`refuses what is ${what}, and prints nothing`, async () => {
      const printedSoFar = printed.length;
      assert.equal(await send(body, signature), 401);
      assert.equal(printed.length, printedSoFar);
    });
  }

  test("reads no more than an event can have", async () => {
    assert.equal(await send("x".repeat(70_000), ""), 413);
  });

  test("has one path, and says so at its door", async () => {
    assert.equal(await send("", "", "GET"), 404);
    assert.match(await (await fetch(receiver.url)).text(), /POST \/api\/internal\/marketplace-webhook/);
  });
});
