import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { createCaller, createVerifier } from "./access.test-support.ts";
import { startTestServer } from "./server.test-support.ts";

const [atOnce, maxWaiting] = [4, 100];

async function startHanging(t: TestContext) {
  const waiting: (() => void)[] = [];
  const running = await startTestServer(cleanUpAfter(t), {
    closed: true,
    access: {
      tokens: createVerifier({ busy: createCaller("busy", ["operator"]), other: createCaller("other", ["operator"]) }),
      requestsPerMinute: 1_000,
      requestsAtOnce: atOnce,
      refusedTokensPerMinute: 1_000,
    },
    routes: (server) => {
      const config = { access: ["operator"] } as const;
      server.get("/quick", { config }, () => ({}));
      const hang = (): Promise<object> => new Promise((resolve) => waiting.push(() => resolve({})));
      server.get("/hangs", { config }, hang);
      server.get("/throws", { config }, () => {
        throw new Error("at once");
      });
      server.get("/stream", { config: { ...config, isStreamed: true } }, () => ({}));
    },
  });
  const send = (caller: "busy" | "other", path: string, signal: AbortSignal | null = null): Promise<Response> =>
    fetch(`${running.url}${path}`, { headers: { authorization: `Bearer ${caller}` }, signal });
  const release = (): void => {
    for (const respond of waiting.splice(0)) respond();
  };
  return { send, release, inProgress: () => waiting.length };
}

test("a caller has four requests in progress: further ones wait, and other callers don't", async (t) => {
  const { send, release, inProgress } = await startHanging(t);
  const sent = Array.from({ length: 2 * atOnce }, () => send("busy", "/hangs"));
  await eventually("the caller's share is in progress", 30_000, () => inProgress() === atOnce);
  assert.equal((await send("other", "/quick")).status, 200);
  assert.equal((await send("busy", "/stream")).status, 200, "what takes long has slots of its own");
  assert.equal(inProgress(), atOnce);
  release();
  await eventually("the others follow", 30_000, () => inProgress() === atOnce);
  release();
  for (const response of await Promise.all(sent)) assert.equal(response.status, 200);
});

test("a handler that throws at once releases its slot", async (t) => {
  const { send } = await startHanging(t);
  const patience = AbortSignal.timeout(30_000);
  for (let nth = 0; nth <= atOnce; nth += 1) assert.equal((await send("busy", "/throws", patience)).status, 500);
  assert.equal((await send("busy", "/quick", patience)).status, 200);
});

test("a client that leaves keeps its slot until what it has begun is over", async (t) => {
  const { send, release, inProgress } = await startHanging(t);
  const client = new AbortController();
  const sent = Array.from({ length: atOnce }, () => send("busy", "/hangs", client.signal));
  await eventually("the caller's share is in progress", 30_000, () => inProgress() === atOnce);
  client.abort();
  await Promise.allSettled(sent);
  const waiting = send("busy", "/hangs");
  // Of the same connection pool: the server has seen the others close by then.
  for (let nth = 0; nth < 3; nth += 1) assert.equal((await send("other", "/quick")).status, 200);
  assert.equal(inProgress(), atOnce);
  release();
  await eventually("the next one follows", 30_000, () => inProgress() === 1);
  release();
  assert.equal((await waiting).status, 200);
});

test("of a caller with too many waiting requests, more are refused", async (t) => {
  const { send, release, inProgress } = await startHanging(t);
  const first = Array.from({ length: atOnce }, () => send("busy", "/hangs"));
  await eventually("the caller's share is in progress", 30_000, () => inProgress() === atOnce);
  const more = Array.from({ length: maxWaiting + 1 }, () => send("busy", "/quick"));
  const refused = await Promise.race(more);
  assert.equal(refused.headers.get("retry-after"), "1");
  await assertProblem(refused, 429, "rate-limited");
  release();
  const statuses = (await Promise.all([...first, ...more])).map(({ status }) => status);
  assert.deepEqual(
    statuses.filter((status) => status !== 200),
    [429],
  );
});
