import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assertProblem,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  startApiProcess,
} from "@ehr-marketplace/tests/support";

test("ten seconds of an overloaded event loop are shed with 503, liveness answers, and then all is well again", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const burn = new URL("./burn-event-loop.test-fixture.ts", import.meta.url).href;
  const api = await startApiProcess(cleanUp, serviceUrl, {
    nodeOptions: ["--import", burn],
    environment: { MAX_EVENT_LOOP_DELAY_MS: "200" },
  });
  const ask = (): Promise<Response> => fetch(`${api.url}/api/v1/apps/cuffline`);
  await eventually("it serves", 5_000, async () => (await ask()).status === 200);

  const seen = { served: 0, shed: 0 };
  const began = performance.now();
  api.child.kill("SIGWINCH");
  while (performance.now() - began < 9_000) {
    const answer = await ask();
    if (answer.status === 503) {
      assert.ok(Number(answer.headers.get("retry-after")) >= 1);
      await assertProblem(answer, 503, "overloaded");
      seen.shed += 1;
      assert.equal((await fetch(`${api.url}/health/live`)).status, 200);
    } else {
      assert.equal(answer.status, 200);
      seen.served += 1;
    }
  }
  t.diagnostic(JSON.stringify(seen));
  assert.ok(seen.shed > seen.served, JSON.stringify(seen));

  await eventually("the burn is over, and fifty at once are all served", 20_000, async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    return answers.every(({ status }) => status === 200);
  });
});
