import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { before, beforeEach, describe, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { startTestServer, type TestServer } from "./server.test-support.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";

describe("the request log", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, {
      routes: (server) => {
        server.get("/people/:name", () => ({}));
        server.get("/broken/:name", () => Promise.reject(new Error("it broke")));
        server.get("/endless/:name", () => new Promise(() => undefined));
      },
    });
  });
  beforeEach(() => running.logged.splice(0));
  const lineAfter = async (path: string, headers: Record<string, string> = {}): Promise<Record<string, unknown>> => {
    await (await fetch(`${running.url}${path}`, { headers })).text();
    const responded = (): Record<string, unknown>[] =>
      running.logged.filter((line) => line["msg"] === "request completed");
    await eventually("it is logged", 20_000, () => responded().length > 0);
    assert.equal(responded().length, 1);
    return responded()[0] ?? {};
  };

  test("logs method, route pattern, status, duration and request id", async () => {
    const line = await lineAfter("/people/jane?diagnosis=flu", { "x-request-id": "abc-1" });
    assert.deepEqual([line["method"], line["route"], line["status"]], ["GET", "/people/:name", 200]);
    assert.deepEqual([line["requestId"], line["level"], line["service"]], ["abc-1", "info", "test"]);
    assert.equal(typeof line["ms"], "number");
    assert.match(String(line["time"]), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  for (const [path, code] of [
    ["/people/jane", undefined],
    ["/nothing/jane", "not-found"],
    ["/broken/jane", "internal-error"],
    ["/people/jane%zz", "invalid-request"],
  ] as const) {
    test(`the line has the code of the problem that was sent: ${path} ${code}`, async () => {
      assert.equal((await lineAfter(path))["code"], code);
    });
  }

  for (const path of [
    "/people/jane?diagnosis=flu",
    "/nothing/jane?diagnosis=flu",
    "/broken/jane?diagnosis=flu",
    "/people/jane%zz?diagnosis=flu",
    "/people/jane%00?diagnosis=flu",
  ]) {
    test(`neither path values nor the query are ever logged: ${path}`, async () => {
      await lineAfter(path);
      assert.doesNotMatch(JSON.stringify(running.logged), /jane|diagnosis|flu/);
    });
  }

  test("logs neither after the client disconnects", async () => {
    const socket = connect(running.port, "127.0.0.1");
    socket.write("GET /endless/jane?diagnosis=flu HTTP/1.1\r\nHost: a\r\n\r\n");
    const [, response] = await once(running.server.server, "request");
    socket.destroy();
    await once(response, "close");
    await lineAfter("/people/jane");
    assert.doesNotMatch(JSON.stringify(running.logged), /jane|diagnosis|flu/);
  });

  test("logs the trace id of traceparent", async () => {
    const { traceId: logged } = await lineAfter("/people/jane", { traceparent: `00-${traceId}-b7ad6b7169203331-01` });
    assert.equal(logged, traceId);
  });

  for (const traceparent of [
    "nonsense",
    `00-${traceId}`,
    `00-${traceId.toUpperCase()}-b7ad6b7169203331-01`,
    `00-${traceId}-b7ad6b7169203331-01-x`,
  ]) {
    test(`logs no trace id for an invalid traceparent: ${traceparent}`, async () => {
      assert.equal("traceId" in (await lineAfter("/people/jane", { traceparent })), false);
    });
  }
});
