import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { assertPrompt, eventually } from "@ehr-marketplace/test-kit";
import { TestService } from "./serve.test-support.ts";
import { readResponse } from "./server.test-support.ts";

async function started(t: TestContext): Promise<TestService> {
  const service = new TestService((stop) => t.after(stop));
  await eventually("it listens", 20_000, () => service.address !== undefined);
  return service;
}

const requestsBegun = (service: TestService, count: number): Promise<void> =>
  eventually("they began", 30_000, () => service.begun === count);

const whole = { status: 200, connection: "close", bytes: 1_000_000 };

describe("graceful shutdown", { concurrency: 4 }, () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`${signal}: finishes all pending requests, also slow ones, and exits with 0`, async (t) => {
      const service = await started(t);
      const responses = ["/slow/200", "/slow/1500", "/slow/3000", "/slow/3000"].map((path) => service.request(path));
      await requestsBegun(service, 4);
      const end = service.stop(signal);
      assert.deepEqual(await Promise.all(responses), [whole, whole, whole, whole]);
      const { code, ms } = await end;
      assert.equal(code, 0, service.output);
      assert.ok(ms < 9_000, String(ms));
      assert.match(service.output, /"msg":"stopped"/);
    });
  }

  test("finishes a response that is being sent, and doesn't wait for its connection afterwards", async (t) => {
    const service = await started(t);
    const response = service.request("/stream");
    await requestsBegun(service, 1);
    const end = service.stop();
    assert.equal((await response).bytes, 1_000_000);
    const { code, ms } = await end;
    assert.equal(code, 0, service.output);
    assert.ok(ms < 9_000, String(ms));
  });

  test("refuses new connections while it finishes pending requests", async (t) => {
    const service = await started(t);
    const response = service.request("/slow/3000");
    await requestsBegun(service, 1);
    assert.equal(await service.isRefusing(), false);
    const end = service.stop();
    await eventually("connections are refused", 2_000, () => service.isRefusing());
    assert.deepEqual(await response, whole);
    assert.equal((await end).code, 0);
  });

  test("serves a request in transit on an open connection, with Connection: close", async (t) => {
    // On a busy machine, the request may come later than connections are kept open.
    await eventually("it comes within a second", 120_000, async () => {
      const service = await started(t);
      const socket = connect(service.port, "127.0.0.1").on("error", () => undefined);
      socket.write("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n");
      await once(socket, "data");
      const began = performance.now();
      const end = service.stop();
      await eventually("connections are refused", 30_000, () => service.isRefusing());
      socket.write("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n");
      const response = socket.readableEnded ? undefined : await readResponse(socket).catch(() => undefined);
      const elapsedMs = performance.now() - began;
      assert.equal((await end).code, 0);
      if (elapsedMs >= 1_000) return false;
      assert.deepEqual([response?.status, response?.headers.get("connection")], [200, "close"]);
      return true;
    });
  });

  test("doesn't wait for idle connections or incomplete requests", async (t) => {
    const service = await started(t);
    await service.request("/quick");
    for (const bytes of ["", "GET /qui", "GET /quick HTTP/1.1\r\nHost"]) {
      const socket = connect(service.port, "127.0.0.1").on("error", () => undefined);
      await once(socket, "connect");
      socket.write(bytes);
    }
    const { code, ms } = await service.stop();
    assert.equal(code, 0, service.output);
    assert.ok(ms < 9_000, String(ms));
  });

  test("stops after 10 s despite a handler that never ends, and logs it", async (t) => {
    let service: TestService | undefined;
    const prepare = async (): Promise<void> => {
      service = await started(t);
      service.request("/never").catch(() => undefined);
      await requestsBegun(service, 1);
    };
    const stop = async (): Promise<void> => assert.equal((await service?.stop())?.code, 1);
    await assertPrompt(10_000, stop, prepare);
    assert.match(service?.output ?? "", /"level":"error".*shutdown timed out/);
  });

  test("logs an uncaught error, finishes pending requests, and exits with 1", async (t) => {
    const service = await started(t);
    const response = service.request("/slow/1500");
    await requestsBegun(service, 1);
    await service.request("/crash").catch(() => undefined);
    assert.deepEqual(await response, whole);
    assert.equal((await service.ended)[0], 1);
    assert.match(service.output, /"level":"fatal".*nothing caught this/);
  });

  test("stops what it started and exits when the port is taken", async (t) => {
    const taken = createServer().listen(0, "127.0.0.1");
    t.after(() => taken.close());
    await once(taken, "listening");
    const address = taken.address();
    const service = new TestService((stop) => t.after(stop), typeof address === "object" ? (address?.port ?? 0) : 0);
    const [code] = await service.ended;
    assert.equal(code, 1);
    assert.match(service.output, /EADDRINUSE/);
  });
});
