import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
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
