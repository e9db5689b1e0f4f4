import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { assertSecurityHeaders, startTestServer } from "./server.test-support.ts";
import { minRequestsInProgress } from "./shed-load.ts";

function blockTheLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** A server whose event loop is late whenever `blockTheLoop` is called often. */
async function startLateServer(t: TestContext) {
  const waiting: (() => void)[] = [];
  const running = await startTestServer(cleanUpAfter(t), {
    limits: { eventLoopDelayMs: 20 },
    routes: (server) => {
      server.get("/work", () => ({}));
      server.get("/wait", () => new Promise<object>((resolve) => waiting.push(() => resolve({}))));
    },
  });
  const sendLate = (path: string): Promise<Response> => {
    blockTheLoop(100);
    return fetch(`${running.url}${path}`);
  };
  /** Whether one of twenty requests is refused, without pauses between them, which would lower the load. */
  const refusesOne = async (): Promise<boolean> => {
    for (let nth = 0; nth < 20; nth += 1) if ((await sendLate("/work")).status === 503) return true;
    return false;
  };
  /** Keeps requests in progress, which the returned function ends. */
  const keepInProgress = async (count: number): Promise<() => Promise<unknown>> => {
    const responses = Array.from({ length: count }, () => fetch(`${running.url}/wait`));
    await eventually("they are in progress", 30_000, () => waiting.length === count);
    return () => {
      for (const respond of waiting.splice(0)) respond();
      return Promise.all(responses);
    };
  };
  return { running, sendLate, refusesOne, keepInProgress };
}

test("returns 503 with Retry-After while the event loop is overloaded, except for health and metrics", async (t) => {
  const { running, sendLate, refusesOne, keepInProgress } = await startLateServer(t);
  const end = await keepInProgress(minRequestsInProgress);
  await eventually("it is overloaded", 30_000, refusesOne);
  const response = await sendLate("/work");
  const { instance } = await assertProblem(response, 503, "overloaded");
  assertSecurityHeaders(response, instance);
  assert.equal(response.headers.get("retry-after"), "2");
  for (const path of ["/health/live", "/health/ready", "/metrics"])
    assert.equal((await sendLate(path)).status, 200, path);
  await end();

  await eventually("it works again", 30_000, async () => (await fetch(`${running.url}/work`)).status === 200);
});

test("refuses nothing while few requests are in progress, however late the event loop is", async (t) => {
  const { refusesOne, keepInProgress } = await startLateServer(t);
  const end = await keepInProgress(minRequestsInProgress);
  await eventually("it is overloaded", 30_000, refusesOne);
  await end();
  const endFewer = await keepInProgress(minRequestsInProgress - 1);
  assert.equal(await refusesOne(), false);
  await endFewer();
});

test("ignores event loop delay from before the server listens", async (t) => {
  const running = await startTestServer(cleanUpAfter(t), {
    limits: { eventLoopDelayMs: 20 },
    routes: (server) => {
      server.get("/work", () => ({}));
      blockTheLoop(700);
    },
  });
  await eventually("the lag has been measured", 30_000, () => running.server.memoryUsage().eventLoopDelay > 20);
  assert.equal((await fetch(`${running.url}/work`)).status, 200);
});

const begun = performance.now();

test("ignores samples without a measurement, as after a pause of the process", async (t) => {
  const running = await startTestServer(cleanUpAfter(t), {
    limits: { eventLoopDelayMs: 60_000 },
    routes: (server) => server.get("/work", () => ({})),
  });
  await eventually("the start is over", 30_000, () => performance.now() - begun > 1_100);
  for (let pause = 0; pause < 3; pause += 1) {
    blockTheLoop(1_200);
    assert.equal((await fetch(`${running.url}/work`)).status, 200);
  }
});
