// A reader follows the README and the guides one after another on one stack, and again: each has to leave the stack as it found it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { cleanUpAfter, type DevStack, followGuide, guideSteps, startDevStack } from "@ehr-marketplace/tests/support";

type GuideSteps = ReturnType<typeof guideSteps>;

async function stepsOf(path: string): Promise<GuideSteps> {
  return guideSteps(await readFile(new URL(`../../${path}`, import.meta.url), "utf8"));
}

const readme = (await stepsOf("README.md")).filter(({ heading }) => heading === "What to try next");
const practice = await stepsOf("docs/guides/practice.md");
const ehrOperator = await stepsOf("docs/guides/ehr-operator.md");
const vendor = await stepsOf("docs/guides/vendor.md");

describe("a reader follows the guides one after another", () => {
  const cleanUp = cleanUpAfter();
  let stack: DevStack;
  before(async () => {
    const started = await startDevStack(cleanUp);
    const ports = { ...started.ports, RECEIVER_PORT: String(await freePort()) };
    stack = { ...started, ports };
  });

  /** Asserts that each step prints what the guide says; returns what was printed under a heading. */
  async function follow(steps: GuideSteps): Promise<(heading: string) => string[]> {
    const printed = await followGuide(steps, stack);
    for (const [index, { commands, promised }] of steps.entries()) {
      assert.equal(printed[index], promised ?? "", commands);
    }
    return (heading) => printed.filter((text, index) => text !== "" && steps[index]?.heading === heading);
  }

  async function followReadme(): Promise<void> {
    const [browsed, subscribed, ...more] = await followGuide(readme, stack);
    for (const field of ["totalElements", "fhirScopes", "appCount", "pricingModel", '"code":"invalid-request"']) {
      assert.ok(browsed?.includes(field), field);
    }
    assert.equal(subscribed?.match(/"status":"active"/g)?.length, 2, "the response to subscribing, and the list");
    assert.equal(subscribed?.match(/"status":"cancelled"/g)?.length, 1);
    assert.deepEqual(more, []);
  }

  async function followPractice(): Promise<void> {
    const under = await follow(practice);
    assert.deepEqual(under("Subscribe"), ["active"]);
    assert.deepEqual(under("Send it again when no answer came"), [
      "the same subscription",
      '"code":"already-subscribed"',
    ]);
    assert.deepEqual(under("List what you have"), ["northwind-scribe is active"]);
    assert.deepEqual(under("Pause and resume"), ["paused", "active"]);
    assert.deepEqual(under("Cancel"), ["cancelled"]);
    const [audit] = under("Read the audit log");
    assert.deepEqual(
      audit?.split("\n").map((entry) => entry.split(" ")[0]),
      ["subscription.cancel", "subscription.resume", "subscription.pause", "subscription.create"],
    );
  }

  async function followEhrOperator(): Promise<void> {
    const under = await follow(ehrOperator);
    assert.deepEqual(under("How it learns of subscriptions"), ["Northwind Scribe is active, at note-panel"]);
    assert.deepEqual(under("Rotate it without losing an event"), ["true", "paused", "lakeside-clinic", "active\nnull"]);
    assert.deepEqual(under("Configuring an app"), ["false\nnull\nour own key"]);
    const [redeemed = "", paused] = under("What your authorization server has to do");
    assert.match(redeemed, /^the patient is who was meant\nThe launch can't/);
    assert.match(paused ?? "", /^paused\nThe app is paused .*\nactive$/);
    assert.deepEqual(under("Reconcile on demand"), ["0"]);
    assert.deepEqual(under("When a practice cancels"), ["cancelled", "cancelled"]);
  }

  async function followVendor(): Promise<void> {
    const under = await follow(vendor);
    assert.deepEqual(under("Test it"), ["ping, attempt 1, signatures: 1"]);
    assert.deepEqual(under("Hear of a subscription"), ["subscription.created, attempt 1, signatures: 1"]);
    assert.deepEqual(under("Watch deliveries and attempts"), ["answered 503\n1: failed, 503\n2: delivered, 204"]);
    assert.deepEqual(under("Send a delivery again"), ["subscription.paused, attempt 3, signatures: 1, seen before"]);
    assert.deepEqual(under("Replay a span of time"), ["3"]);
    assert.deepEqual(under("Rotate the secret"), ["ping, attempt 1, signatures: 2", "ping, attempt 1, signatures: 1"]);
  }

  test("the README works as it is written", followReadme);
  test("the practice's guide works as it is written, after the README", followPractice);
  test("the EHR operator's guide works as it is written, after the practice's", followEhrOperator);
  test("the vendor's guide works as it is written, after the EHR operator's", followVendor);
  test("the EHR operator's guide works a second time", followEhrOperator);
  test("the practice's guide works a second time, after all others", followPractice);
  test("the README works a second time, after all guides", followReadme);

  test("where a practice has the app already, each guide stops and says why", async () => {
    const until = practice.findIndex(({ heading }) => heading === "Pause and resume");
    await followGuide(practice.slice(0, until), stack);
    for (const steps of [practice, ehrOperator, vendor]) {
      await assert.rejects(followGuide(steps, stack), ({ stderr }: { stderr: string }) => {
        assert.match(stderr, /error: 409\nRefused: .*\. Subscription \S+ is active/);
        return true;
      });
    }
  });
});
