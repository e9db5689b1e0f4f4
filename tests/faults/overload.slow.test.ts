import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { startApiProcess } from "@ehr-marketplace/tests/support/service-process";

test("an overloaded event loop sheds requests with 503 for ten seconds, liveness stays 200, and service resumes", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const burn = new URL("./burn-event-loop.test-fixture.ts", import.meta.url).href;
  const api = await startApiProcess(cleanUp, serviceUrl, {
    nodeOptions: ["--import", burn],
    environment: { MAX_EVENT_LOOP_DELAY_MS: "200" },
  });
  const getApp = (): Promise<Response> => fetch(`${api.url}/api/v1/apps/cuffline`);
  await eventually("the API serves requests", 30_000, async () => (await getApp()).status === 200);
  let searches = 0;
  /** Each waits for the database, because nobody has searched for it before. */
  const searchMany = (): Promise<Response[]> =>
    Promise.all(
      Array.from({ length: 50 }, () => fetch(`${api.url}/api/v1/apps/search?q=reminder%20${(searches += 1)}`)),
    );

  // Their connections are kept: new ones are accepted one by one while the event loop is overloaded, and few requests would be in progress.
  await searchMany();
  const counts = { served: 0, shed: 0 };
  const began = performance.now();
  api.child.kill("SIGWINCH");
  while (performance.now() - began < 9_000) {
    for (const response of await searchMany()) {
      if (response.status === 503) {
        assert.ok(Number(response.headers.get("retry-after")) >= 1);
        await assertProblem(response, 503, "overloaded");
        counts.shed += 1;
      } else {
        assert.equal(response.status, 200);
        counts.served += 1;
      }
    }
    assert.equal((await fetch(`${api.url}/health/live`)).status, 200);
  }
  t.diagnostic(JSON.stringify(counts));
  // How many are served in between depends on the load of the machine; without shedding, all would be.
  assert.ok(counts.shed >= 3, JSON.stringify(counts));

  await eventually("fifty concurrent requests are all served", 20_000, async () => {
    const responses = await Promise.all(Array.from({ length: 50 }, getApp));
    return responses.every(({ status }) => status === 200);
  });
});
