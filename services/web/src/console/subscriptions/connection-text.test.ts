import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { describeConnection } from "./connection-text.ts";

const installed = (status: "pending" | "ready" | "failed", reason: string | null) => ({
  connection: { status, reason },
});

describe("how far an app has come in the EHR", () => {
  test("waiting: says for whom, and what to do if it takes long", () => {
    const { text, advice } = describeConnection(undefined);
    assert.equal(text, "Waiting for the EHR");
    assert.match(advice ?? "", /more than an hour/);
  });

  test("without a sign-in of its own, it is installed, and nothing is to be done", () => {
    const described = { text: "Installed", reason: undefined, advice: undefined, isFailed: false };
    assert.deepEqual(describeConnection({ connection: null }), described);
  });

  test("ready: with a reason only if something is wrong with it", () => {
    assert.deepEqual(describeConnection(installed("ready", null)).advice, undefined);
    assert.equal(
      describeConnection(installed("ready", "A change isn't registered yet.")).reason,
      "A change isn't registered yet.",
    );
  });

  test("failed: has the reason, and whom to ask", () => {
    const { text, reason, advice, isFailed } = describeConnection(installed("failed", "The server refused it."));
    assert.deepEqual([text, reason, isFailed], ["Installed; can't sign in", "The server refused it.", true]);
    assert.match(advice ?? "", /EHR's operator/);
    assert.equal(describeConnection(installed("failed", "")).reason, undefined);
  });
});
