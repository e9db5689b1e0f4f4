import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { assertSecurityHeaders, startTestServer } from "./server.test-support.ts";

function blockTheLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("returns 503 with Retry-After while the event loop is overloaded, except for health and metrics", async (t) => {
  const running = await startTestServer(cleanUpAfter(t), {
    limits: { eventLoopDelayMs: 20 },
    routes: (server) => server.get("/work", () => ({})),
  });
  const sendRequest = (path: string): Promise<Response> => {
    blockTheLoop(100);
    return fetch(`${running.url}${path}`);
  };
  // Without pauses between the requests, which would lower the load.
  await eventually("it is overloaded", 30_000, async () => {
    for (let nth = 0; nth < 20; nth += 1) if ((await sendRequest("/work")).status === 503) return true;
    return false;
  });
  const response = await sendRequest("/work");
  const { instance } = await assertProblem(response, 503, "overloaded");
  assertSecurityHeaders(response, instance);
  assert.equal(response.headers.get("retry-after"), "2");
  for (const path of ["/health/live", "/health/ready", "/metrics"])
    assert.equal((await sendRequest(path)).status, 200, path);

  await eventually("it works again", 30_000, async () => (await fetch(`${running.url}/work`)).status === 200);
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
