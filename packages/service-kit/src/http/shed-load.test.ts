import assert from "node:assert/strict";
import { test } from "node:test";
import { assertProblem, cleanUpAfter, eventually } from "@ehr-marketplace/tests/support";
import { assertGuarded, startTestServer } from "./server.test-support.ts";

function blockTheLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("an event loop that can't keep up refuses work with 503 and Retry-After, yet stays alive and can be watched", async (t) => {
  const running = await startTestServer(cleanUpAfter(t), {
    limits: { eventLoopDelayMs: 20 },
    routes: (server) => server.get("/work", () => ({})),
  });
  const ask = (path: string): Promise<Response> => {
    blockTheLoop(100);
    return fetch(`${running.url}${path}`);
  };
  await eventually("it is overloaded", 10_000, async () => (await ask("/work")).status === 503);
  const answer = await ask("/work");
  const { instance } = await assertProblem(answer, 503, "overloaded");
  assertGuarded(answer, instance);
  assert.equal(answer.headers.get("retry-after"), "2");
  for (const path of ["/health/live", "/health/ready", "/metrics"]) assert.equal((await ask(path)).status, 200, path);

  await eventually("it works again", 10_000, async () => (await fetch(`${running.url}/work`)).status === 200);
});

test("what kept the event loop busy while the process started counts for nothing", async (t) => {
  const running = await startTestServer(cleanUpAfter(t), {
    limits: { eventLoopDelayMs: 20 },
    routes: (server) => {
      server.get("/work", () => ({}));
      blockTheLoop(700);
    },
  });
  await eventually("the lag has been measured", 5_000, () => running.server.memoryUsage().eventLoopDelay > 20);
  assert.equal((await fetch(`${running.url}/work`)).status, 200);
});

const begun = performance.now();

test("a pause after which nothing could be measured is not taken for overload", async (t) => {
  const running = await startTestServer(cleanUpAfter(t), {
    limits: { eventLoopDelayMs: 60_000 },
    routes: (server) => server.get("/work", () => ({})),
  });
  await eventually("the start is over", 5_000, () => performance.now() - begun > 1_100);
  for (let pause = 0; pause < 3; pause += 1) {
    blockTheLoop(1_200);
    assert.equal((await fetch(`${running.url}/work`)).status, 200);
  }
});
