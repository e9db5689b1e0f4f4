import assert from "node:assert/strict";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { test } from "node:test";
import { eventually } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { rawResponse, readResponse, startTestServer } from "./server.test-support.ts";

const head = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{`;

test("a route can have more time than others, which keep theirs", async (t) => {
  const running = await startTestServer((stop) => t.after(stop), {
    limits: { requestMs: 500 },
    routes: (server) => {
      server.post("/slow", { config: { timeoutMs: 60_000 } }, () => ({ received: true }));
      server.post("/fast", () => ({}));
    },
  });
  assert.deepEqual([running.server.server.requestTimeout, running.server.server.headersTimeout], [60_000, 500]);
  const socket = connect(running.port, "127.0.0.1");
  const slow = readResponse(socket);
  socket.write(head("/slow"));
  for (let nth = 0; nth < 2; nth += 1) {
    const response = await rawResponse(running, head("/fast"));
    await assertProblem(response, 408, "request-timeout");
  }
  socket.write("}");
  assert.deepEqual(await (await slow).json(), { received: true });
  await assertProblem(await rawResponse(running, "POST /slow HTTP/1.1\r\nHost: "), 408, "request-timeout");
});

test("a server whose limit is longer keeps it", async (t) => {
  const { server } = await startTestServer((stop) => t.after(stop), {
    limits: { requestMs: 120_000 },
    routes: (routes) => routes.post("/slow", { config: { timeoutMs: 60_000 } }, () => ({})),
  });
  assert.equal(server.server.requestTimeout, 120_000);
});

const never = (): Promise<never> => new Promise(() => undefined);

test("a handler that takes too long is 503 with Retry-After, whether the request has a body or not", async (t) => {
  const { url, logged } = await startTestServer((stop) => t.after(stop), {
    limits: { requestMs: 500 },
    routes: (server) => server.route({ method: ["GET", "POST", "PUT"], url: "/never", handler: never }),
  });
  const headers = { "content-type": "application/json" };
  const large = JSON.stringify({ text: "a".repeat(16_000) });
  for (const options of [
    {},
    { method: "POST" },
    { method: "POST", headers, body: "{}" },
    { method: "PUT", headers, body: large },
    { method: "POST", headers, body: new Blob(["{", "}"]).stream(), duplex: "half" as const },
  ]) {
    const response = await fetch(`${url}/never`, options);
    assert.equal(response.headers.get("retry-after"), "2");
    const { detail, instance } = await assertProblem(response, 503, "unavailable");
    assert.equal(detail, "The request timed out before a response was ready.");
    const line = logged.find((each) => each["requestId"] === instance && each["level"] === "error");
    assert.equal(line?.["msg"], "failed to process a request");
  }
});

test("a hook that takes too long is 503, and the handler doesn't run", async (t) => {
  const hook = Promise.withResolvers<void>();
  let handled = 0;
  const { url } = await startTestServer((stop) => t.after(stop), {
    limits: { requestMs: 500 },
    routes: (server) => {
      server.post("/late", { preValidation: () => hook.promise }, () => ({ handled: (handled += 1) }));
    },
  });
  const headers = { "content-type": "application/json" };
  await assertProblem(await fetch(`${url}/late`, { method: "POST", headers, body: "{}" }), 503, "unavailable");
  hook.resolve();
  assert.deepEqual(await (await fetch(`${url}/late`, { method: "POST", headers, body: "{}" })).json(), { handled: 1 });
});

test("a route with more time has it for its handler too, after the body", async (t) => {
  const work = Promise.withResolvers<object>();
  const { url } = await startTestServer((stop) => t.after(stop), {
    limits: { requestMs: 500 },
    routes: (server) => {
      server.post("/slow", { config: { timeoutMs: 60_000 } }, () => work.promise);
      server.post("/fast", never);
    },
  });
  const options = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const slow = fetch(`${url}/slow`, options);
  for (let nth = 0; nth < 2; nth += 1) await assertProblem(await fetch(`${url}/fast`, options), 503, "unavailable");
  work.resolve({ done: true });
  assert.deepEqual(await (await slow).json(), { done: true });
});

test("a response that takes too long to send is cut, after the time of its route", async (t) => {
  const startStream = (): Readable => {
    const stream = new Readable({ read: () => undefined });
    stream.push("first ");
    return stream;
  };
  const slowStream = startStream();
  const { url } = await startTestServer((stop) => t.after(stop), {
    limits: { requestMs: 500 },
    routes: (server) => {
      server.get("/slow", { config: { timeoutMs: 60_000 } }, () => slowStream);
      server.route({ method: ["GET", "POST"], url: "/fast", handler: startStream });
    },
  });
  const slow = await fetch(`${url}/slow`);
  const headers = { "content-type": "application/json" };
  for (const options of [{}, { method: "POST", headers, body: "{}" }]) {
    const response = await fetch(`${url}/fast`, options);
    assert.equal(response.status, 200);
    await assert.rejects(response.text(), /terminated/);
  }
  slowStream.push("last");
  slowStream.push(null);
  assert.equal(await slow.text(), "first last");
});

test("a streamed response may take any time while it is being sent, and is cut when nothing is", async (t) => {
  const [sending, silent] = [1, 2].map(() => new Readable({ read: () => undefined }));
  const { url } = await startTestServer((stop) => t.after(stop), {
    limits: { requestMs: 300 },
    routes: (server) => {
      server.get("/sending", { config: { isStreamed: true } }, () => sending);
      server.get("/silent", { config: { isStreamed: true } }, () => silent);
      server.get("/never", { config: { isStreamed: true } }, never);
    },
  });
  const timer = setInterval(() => sending?.push("part "), 20);
  t.after(() => clearInterval(timer));
  silent?.push("first ");
  const began = performance.now();
  const [long, cut] = await Promise.all([fetch(`${url}/sending`), fetch(`${url}/silent`)]);
  await assert.rejects(cut.text(), /terminated/);
  await assertProblem(await fetch(`${url}/never`), 503, "unavailable");
  await eventually("more than three limits are over", 30_000, () => Promise.resolve(performance.now() - began > 1_000));
  sending?.push(null);
  assert.match(await long.text(), /^(part )+$/);
});

test("a client that leaves early is no failure", async (t) => {
  let started = 0;
  const { url, port, logged } = await startTestServer((stop) => t.after(stop), {
    limits: { requestMs: 500 },
    routes: (server) => {
      server.post("/never", () => {
        started += 1;
        return never();
      });
    },
  });
  const socket = connect(port, "127.0.0.1");
  socket.write(`${head("/never")}}`);
  await eventually("the request is received", 30_000, () => started === 1);
  socket.destroy();
  const response = await fetch(`${url}/never`, { method: "POST" });
  const { instance } = await assertProblem(response, 503, "unavailable");
  const failed = logged.filter(({ level }) => level === "error").map(({ requestId }) => requestId);
  assert.deepEqual(failed, [instance]);
});
