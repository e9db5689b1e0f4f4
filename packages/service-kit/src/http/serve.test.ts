import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { eventually } from "@ehr-marketplace/tests/support";
import { TestService } from "./serve.test-support.ts";
import { answerFrom } from "./server.test-support.ts";

async function started(t: TestContext): Promise<TestService> {
  const service = new TestService((stop) => t.after(stop));
  await eventually("it listens", 20_000, () => service.address !== undefined);
  return service;
}

const requestsBegun = (service: TestService, count: number): Promise<void> =>
  eventually("they began", 10_000, () => service.begun === count);

const whole = { status: 200, connection: "close", bytes: 1_000_000 };

describe("a service that is told to stop", { concurrency: 4 }, () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`${signal}: all requests in flight are answered completely, also after seconds, and it ends with 0`, async (t) => {
      const service = await started(t);
      const answers = ["/slow/200", "/slow/1500", "/slow/3000", "/slow/3000"].map((path) => service.ask(path));
      await requestsBegun(service, 4);
      const end = service.stop(signal);
      assert.deepEqual(await Promise.all(answers), [whole, whole, whole, whole]);
      const { code, ms } = await end;
      assert.equal(code, 0, service.output);
      assert.ok(ms < 9_000, String(ms));
      assert.match(service.output, /"msg":"stopped"/);
    });
  }

  test("an answer that is half out when the signal comes is sent to its end, and its connection doesn't hold it up", async (t) => {
    const service = await started(t);
    const answer = service.ask("/stream");
    await requestsBegun(service, 1);
    const end = service.stop();
    assert.equal((await answer).bytes, 1_000_000);
    const { code, ms } = await end;
    assert.equal(code, 0, service.output);
    assert.ok(ms < 9_000, String(ms));
  });

  test("new connections are refused while the last requests are answered", async (t) => {
    const service = await started(t);
    const answer = service.ask("/slow/3000");
    await requestsBegun(service, 1);
    assert.equal(await service.isRefusing(), false);
    const end = service.stop();
    await eventually("connections are refused", 2_000, () => service.isRefusing());
    assert.deepEqual(await answer, whole);
    assert.equal((await end).code, 0);
  });

  test("a request just on its way on an open connection is answered, and told that it is the last", async (t) => {
    const service = await started(t);
    const socket = connect(service.port, "127.0.0.1");
    socket.write("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(socket, "data");
    const end = service.stop();
    await eventually("connections are refused", 2_000, () => service.isRefusing());
    socket.write("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n");
    const answer = await answerFrom(socket);
    assert.deepEqual([answer.status, answer.headers.get("connection")], [200, "close"]);
    assert.equal((await end).code, 0);
  });

  test("connections that are idle, never asked anything, or stopped in the middle of a header don't hold it up", async (t) => {
    const service = await started(t);
    await service.ask("/quick");
    for (const bytes of ["", "GET /qui", "GET /quick HTTP/1.1\r\nHost"]) {
      const socket = connect(service.port, "127.0.0.1").on("error", () => undefined);
      await once(socket, "connect");
      socket.write(bytes);
    }
    const { code, ms } = await service.stop();
    assert.equal(code, 0, service.output);
    assert.ok(ms < 9_000, String(ms));
  });

  test("a handler that never ends doesn't keep it beyond 10 s, and the log says that it was cut", async (t) => {
    const service = await started(t);
    service.ask("/never").catch(() => undefined);
    await requestsBegun(service, 1);
    const { code, ms } = await service.stop();
    assert.equal(code, 1);
    assert.ok(ms < 10_000, String(ms));
    assert.match(service.output, /"level":"error".*not answered in time/);
  });

  test("an error that nothing caught is logged, what is in flight is answered, and it ends with 1", async (t) => {
    const service = await started(t);
    const answer = service.ask("/slow/1500");
    await requestsBegun(service, 1);
    await service.ask("/crash").catch(() => undefined);
    assert.deepEqual(await answer, whole);
    assert.equal((await service.ended)[0], 1);
    assert.match(service.output, /"level":"fatal".*nothing caught this/);
  });

  test("where the port is taken, what was started is stopped, and the process ends", async (t) => {
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
