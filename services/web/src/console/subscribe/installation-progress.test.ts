import assert from "node:assert/strict";
import { test } from "node:test";
import { isPaused, isSettled, pollDelay } from "./installation-progress.ts";

test("the EHR is asked less and less often, but at least every 15 seconds", () => {
  const delays = [0, 1, 2, 5, 50].map(pollDelay);
  assert.deepEqual(
    delays,
    delays.toSorted((a, b) => a - b),
  );
  assert.deepEqual([delays[0], delays.at(-1)], [800, 15_000]);
});

test("the EHR isn't asked any more after ten minutes, so that an unattended tab doesn't prolong the session", () => {
  assert.deepEqual([0, 600_000, 600_001].map(isPaused), [false, false, true]);
});

test("an installation is followed until its sign-in works, has failed, or isn't needed", () => {
  const connection = (status: "pending" | "ready" | "failed") => ({
    connection: { status, clientId: null, reason: null },
  });
  assert.deepEqual(
    [null, undefined, connection("pending"), connection("ready"), connection("failed"), { connection: null }].map(
      isSettled,
    ),
    [false, false, false, true, true, true],
  );
});
