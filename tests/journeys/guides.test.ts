// Runs the README and the guides one after another on one stack, twice: each has to leave the stack as it found it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { type DevStack, parseGuide, runGuide, startDevStack } from "@ehr-marketplace/tests/support";

type GuideSteps = ReturnType<typeof parseGuide>;

async function stepsOf(path: string): Promise<GuideSteps> {
  return parseGuide(await readFile(new URL(`../../${path}`, import.meta.url), "utf8"));
}

const readme = (await stepsOf("README.md")).filter(({ heading }) => heading === "What to try next");
const practice = await stepsOf("docs/guides/practice.md");
const ehrOperator = await stepsOf("docs/guides/ehr-operator.md");
const vendor = await stepsOf("docs/guides/vendor.md");

describe("the guides, run one after another", () => {
  const cleanUp = cleanUpAfter();
  let stack: DevStack;
  before(async () => {
    const started = await startDevStack(cleanUp);
    const ports = { ...started.ports, RECEIVER_PORT: String(await freePort()) };
    stack = { ...started, ports };
  });

  /** Asserts that each step prints what the guide says; returns a function that gets the output under a heading. */
  async function runAndCheck(steps: GuideSteps): Promise<(heading: string) => string[]> {
    const printed = await runGuide(steps, stack);
    for (const [index, { commands, expectedOutput }] of steps.entries()) {
      assert.equal(printed[index], expectedOutput ?? "", commands);
    }
    return (heading) => printed.filter((text, index) => text !== "" && steps[index]?.heading === heading);
  }

  async function runReadme(): Promise<void> {
    const [browsed, subscribed, ...more] = await runGuide(readme, stack);
    for (const field of ["totalElements", "fhirScopes", "appCount", "pricingModel", '"code":"invalid-request"']) {
      assert.ok(browsed?.includes(field), field);
    }
    assert.equal(subscribed?.match(/"status":"active"/g)?.length, 2, "the response to subscribing, and the list");
    assert.equal(subscribed?.match(/"status":"cancelled"/g)?.length, 1);
    assert.deepEqual(more, []);
  }

  async function runPractice(): Promise<void> {
    const under = await runAndCheck(practice);
    assert.deepEqual(under("Subscribe"), ["active"]);
    assert.deepEqual(under("Retry with an idempotency key"), ["the same subscription", '"code":"already-subscribed"']);
    assert.deepEqual(under("List subscriptions"), ["northwind-scribe is active"]);
    assert.deepEqual(under("Pause and resume"), ["paused", "active"]);
    assert.deepEqual(under("Cancel"), ["cancelled"]);
    const [audit] = under("Read the audit log");
    assert.deepEqual(
      audit?.split("\n").map((entry) => entry.split(" ")[0]),
      ["subscription.cancel", "subscription.resume", "subscription.pause", "subscription.create"],
    );
  }

  async function runEhrOperator(): Promise<void> {
    const under = await runAndCheck(ehrOperator);
    assert.deepEqual(under("Subscription events"), ["Northwind Scribe is active, at note-panel"]);
    assert.deepEqual(under("Rotate a secret"), ["true", "paused", "lakeside-clinic", "active\nnull"]);
    assert.deepEqual(under("Configure an app"), ["false\nnull\nour own key"]);
    assert.match(under("Authorization server requirements").join(), /^the patient is who was meant\nThe launch can't/);
    assert.match(under("Paused apps").join(), /^paused\nThe app is paused .*\nactive$/);
    assert.deepEqual(under("Reconcile on demand"), ["0"]);
    assert.deepEqual(under("Cancel the subscriptions"), ["cancelled", "cancelled"]);
  }

  async function runVendor(): Promise<void> {
    const under = await runAndCheck(vendor);
    assert.deepEqual(under("Test the endpoint"), ["ping, attempt 1, signatures: 1"]);
    assert.deepEqual(under("Receive a subscription event"), ["subscription.created, attempt 1, signatures: 1"]);
    assert.deepEqual(under("Watch deliveries and attempts"), ["answered 503\n1: failed, 503\n2: delivered, 204"]);
    assert.deepEqual(under("Redeliver a delivery"), ["subscription.paused, attempt 3, signatures: 1, seen before"]);
    assert.deepEqual(under("Replay a time range"), ["3"]);
    assert.deepEqual(under("Rotate the secret"), ["ping, attempt 1, signatures: 2", "ping, attempt 1, signatures: 1"]);
  }

  test("the README works as it is written", runReadme);
  test("the practice's guide works as it is written, after the README", runPractice);
  test("the EHR operator's guide works as it is written, after the practice's", runEhrOperator);
  test("the vendor's guide works as it is written, after the EHR operator's", runVendor);
  test("the EHR operator's guide works a second time", runEhrOperator);
  test("the practice's guide works a second time, after all others", runPractice);
  test("the README works a second time, after all guides", runReadme);

  test("each guide stops with the reason where the practice already has the app", async () => {
    const until = practice.findIndex(({ heading }) => heading === "Pause and resume");
    await runGuide(practice.slice(0, until), stack);
    for (const steps of [practice, ehrOperator, vendor]) {
      await assert.rejects(runGuide(steps, stack), ({ stderr }: { stderr: string }) => {
        assert.match(stderr, /error: 409\nRefused: .*\. Subscription \S+ is active/);
        return true;
      });
    }
  });
});
