import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { connectDatabase } from "../database/connect.ts";
import { createLogger } from "../telemetry/logger.ts";
import { startTracing } from "../telemetry/tracing.ts";
import type { NotReadyReason } from "./operations-routes.ts";
import { assertSecurityHeaders, rawResponse, startTestServer } from "./server.test-support.ts";

test("/health/live is 200 even if the service isn't ready", async (t) => {
  const running = await startTestServer(cleanUpAfter(t), { readiness: () => Promise.resolve("check-failed") });
  const response = await fetch(`${running.url}/health/live`);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: "live" });
  assert.equal(response.headers.get("cache-control"), "no-store");
});

test("/health/ready is 200 when the service is ready, and 503 with a code and Retry-After when it isn't", async (t) => {
  let reason: NotReadyReason | undefined;
  const running = await startTestServer(cleanUpAfter(t), { readiness: () => Promise.resolve(reason) });
  const ready = await fetch(`${running.url}/health/ready`);
  assert.deepEqual([ready.status, await ready.json()], [200, { status: "ready" }]);
  assert.equal(ready.headers.get("cache-control"), "no-store");

  const readyOf = async (): Promise<string | undefined> =>
    /^process_ready.* (\d)$/m.exec(await (await fetch(`${running.url}/metrics`)).text())?.[1];
  assert.equal(await readyOf(), "1");

  reason = "migrations-missing";
  await eventually("it isn't ready", 30_000, async () => (await fetch(`${running.url}/health/ready`)).status === 503);
  await eventually("the metric says so", 30_000, async () => (await readyOf()) === "0");
  const response = await fetch(`${running.url}/health/ready`);
  const { detail, instance } = await assertProblem(response, 503, "unavailable");
  assert.equal(detail, "Not ready: migrations-missing.");
  assert.match(String(response.headers.get("retry-after")), /^[1-9]\d*$/);
  assertSecurityHeaders(response, instance);
  assert.deepEqual(
    running.logged.filter(({ level }) => level === "error"),
    [],
    "the readiness check logs the reason itself",
  );

  reason = undefined;
  await eventually(
    "it is ready again",
    30_000,
    async () => (await fetch(`${running.url}/health/ready`)).status === 200,
  );
});

test("probes and scrapes are logged at level debug, unless they are refused", async (t) => {
  const logged: Record<string, unknown>[] = [];
  const running = await startTestServer(cleanUpAfter(t), {
    logger: createLogger({ service: "test", level: "debug" }, { write: (line) => logged.push(JSON.parse(line)) }),
    readiness: () => Promise.resolve("check-failed"),
    metricsToken: "a".repeat(32),
  });
  const authorization = `Bearer ${"a".repeat(32)}`;
  for (const path of ["/health/live", "/health/ready", "/health", "/metrics"]) {
    await (await fetch(`${running.url}${path}`, { headers: { authorization } })).text();
  }
  await (await fetch(`${running.url}/metrics`)).text();
  const requests = (): unknown[] =>
    logged
      .filter(({ msg }) => msg === "request completed")
      .map(({ level, route, status }) => `${String(level)} ${String(route)} ${String(status)}`)
      .toSorted();
  await eventually("all are logged", 20_000, () => requests().length === 5);
  assert.deepEqual(requests(), [
    "debug /health 503",
    "debug /health/live 200",
    "debug /health/ready 503",
    "debug /metrics 200",
    "info /metrics 401",
  ]);
});

test("checks readiness at most twice a second, however often it is probed", async (t) => {
  let checks = 0;
  const running = await startTestServer(cleanUpAfter(t), {
    readiness: async () => {
      checks += 1;
      return undefined;
    },
  });
  const began = performance.now();
  await eventually("readiness is checked for the third time", 30_000, async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => fetch(`${running.url}/health/ready`)));
    for (const response of responses) assert.equal(response.status, 200);
    return checks >= 3;
  });
  const elapsedMs = performance.now() - began;
  assert.ok(elapsedMs >= (checks - 1) * 500, `${checks} times in ${elapsedMs} ms`);
});

test("a failed readiness check is 503 or 500, and repeated half a second later", async (t) => {
  let broken = true;
  const running = await startTestServer(cleanUpAfter(t), {
    readiness: () => (broken ? Promise.reject(new Error("unexpected")) : Promise.resolve(undefined)),
  });
  await assertProblem(await fetch(`${running.url}/health/ready`), 500, "internal-error");
  broken = false;
  await eventually(
    "it is ready again",
    30_000,
    async () => (await fetch(`${running.url}/health/ready`)).status === 200,
  );
});

test("/metrics is public if no token is set", async (t) => {
  const running = await startTestServer(cleanUpAfter(t));
  const response = await fetch(`${running.url}/metrics`);
  assert.equal(response.status, 200);
  assert.match(String(response.headers.get("content-type")), /^text\/plain/);
});

test("/metrics requires the token if one is set: without it 401 with WWW-Authenticate", async (t) => {
  const running = await startTestServer(cleanUpAfter(t), { metricsToken: "open-sesame" });
  const sendRequest = (authorization?: string): Promise<Response> =>
    fetch(`${running.url}/metrics`, { headers: authorization === undefined ? {} : { authorization } });
  assert.equal((await sendRequest("Bearer open-sesame")).status, 200);
  for (const wrong of [undefined, "", "Bearer", "Bearer ", "Bearer open-sesam", "Bearer open-sesame1", "open-sesame"]) {
    const response = await sendRequest(wrong);
    const { instance } = await assertProblem(response, 401, "unauthorized");
    assert.match(String(response.headers.get("www-authenticate")), /^Bearer /);
    assertSecurityHeaders(response, instance);
  }
});

test("/metrics has a histogram by route, pool and event loop metrics, and no URL in a label", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const running = await startTestServer(cleanUp, {
    routes: (server) => server.get("/things/:id", () => ({})),
  });
  const database = connectDatabase({
    url: "postgres://nobody@127.0.0.1:1/nothing",
    service: "test",
    poolSize: 1,
    statementTimeoutMs: 1_000,
    logger: createLogger({ service: "test", level: "silent" }),
    tracing: await startTracing("test", undefined),
  });
  cleanUp(() => database.query.destroy());
  running.metrics.watchPool(database.pool);
  for (const path of ["/things/mrn4711", "/things/mrn0815?patient=jane", "/nothing/jane", "/things/%zz"]) {
    await fetch(`${running.url}${path}`);
  }
  await rawResponse(running, "GET http://evil.example/jane HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");

  const metrics = async (): Promise<string> => (await fetch(`${running.url}/metrics`)).text();
  await eventually("all are counted", 30_000, async () => {
    const counted = await metrics();
    return /route="unknown",status="404"\} 2\n/.test(counted) && /_count\{.*:id",status="200"\} 2\n/.test(counted);
  });
  const text = await metrics();
  assert.match(text, /http_request_duration_seconds_count\{.*method="GET",route="\/things\/:id",status="200"\} 2\n/);
  assert.match(text, /http_request_duration_seconds_bucket\{le="10",.*route="\/things\/:id".*\} 2\n/);
  for (const state of ["open", "idle", "waiting"]) {
    assert.match(text, new RegExp(`database_pool_connections\\{.*state="${state}".*\\} 0\n`));
  }
  assert.match(text, /nodejs_eventloop_lag_seconds\{/);
  assert.doesNotMatch(text, /mrn|jane|patient|evil|\?|%zz|127\.0\.0\.1/);
});
