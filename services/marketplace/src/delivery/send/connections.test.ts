import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import type { Socket } from "node:net";
import { test } from "node:test";
import { promisify } from "node:util";
import { cleanUpAfter, eventually } from "@ehr-marketplace/tests/support";
import { issue } from "./certificates.test-support.ts";
import { ok, onRequest, type Receiver, startReceiver } from "./receiver.test-support.ts";
import type { SendResult } from "./send-result.ts";
import { createSender, type Sender } from "./sender.ts";

const loopback = ["127.0.0.0/8"];
const response = (socket: Socket): void => onRequest(socket, () => socket.write(ok()));
const sendTo = (sender: Sender, { url }: Pick<Receiver, "url">, allowedNetworks = loopback): Promise<SendResult> =>
  sender.send({ url, headers: {}, body: "{}", allowedNetworks });
const assertAnswered = (sent: SendResult): void => assert.equal(sent.outcome, "answered", JSON.stringify(sent));

test("sequential requests to one receiver share a connection, and concurrent ones use several", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, response);
  const sender = createSender();
  cleanUp(() => sender.close());
  for (let request = 0; request < 5; request += 1) assertAnswered(await sendTo(sender, receiver));
  assert.equal(receiver.connections.length, 1);
  const together = await Promise.all(Array.from({ length: 4 }, () => sendTo(sender, receiver)));
  together.forEach(assertAnswered);
  assert.equal(receiver.connections.length, 4);
});

test("a connection is not reused for another origin or other allowed networks", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, response);
  const sender = createSender({ resolve: async () => [{ address: "127.0.0.1", family: 4 }] });
  cleanUp(() => sender.close());
  assertAnswered(await sendTo(sender, receiver));
  const strict = await sendTo(sender, receiver, ["127.0.0.2/32"]);
  assert.equal(strict.outcome === "failed" && strict.reason, "address-not-allowed");
  assertAnswered(await sendTo(sender, receiver, ["127.0.0.1/32"]));
  assertAnswered(await sendTo(sender, { url: `http://one.example:${receiver.port}/` }));
  assertAnswered(await sendTo(sender, { url: `http://two.example:${receiver.port}/` }));
  assert.equal(receiver.connections.length, 4);
});

for (const secure of [false, true]) {
  test(`a connection that the receiver closes while idle is no failure, ${secure ? "with" : "without"} TLS`, async (t) => {
    const cleanUp = cleanUpAfter(t);
    const certificate = issue({ names: ["127.0.0.1"] });
    let requests = 0;
    const onlyOne = (socket: Socket): void => {
      let responded = false;
      onRequest(socket, () => {
        requests += 1;
        if (responded) socket.destroy();
        else socket.write(ok());
        responded = true;
      });
    };
    const receiver = await startReceiver(cleanUp, onlyOne, secure ? { tls: certificate } : {});
    const sender = createSender({ trustedCertificates: certificate.cert });
    cleanUp(() => sender.close());
    for (let request = 0; request < 3; request += 1) assertAnswered(await sendTo(sender, receiver));
    assert.deepEqual([receiver.connections.length, requests], [3, 5]);
  });
}

test("a receiver that closes the connection on every request gets it at most twice", async (t) => {
  const cleanUp = cleanUpAfter(t);
  let requests = 0;
  const receiver = await startReceiver(cleanUp, (socket) =>
    onRequest(socket, () => {
      requests += 1;
      if (requests === 1) socket.write(ok());
      else socket.destroy();
    }),
  );
  const sender = createSender();
  cleanUp(() => sender.close());
  assertAnswered(await sendTo(sender, receiver));
  const sent = await sendTo(sender, receiver);
  assert.equal(sent.outcome === "failed" && sent.reason, "connection-closed");
  assert.equal(requests, 3);
});

test("a truncated response on a reused connection is not requested again", async (t) => {
  const cleanUp = cleanUpAfter(t);
  let requests = 0;
  const receiver = await startReceiver(cleanUp, (socket) =>
    onRequest(socket, () => {
      requests += 1;
      if (requests === 1) socket.write(ok());
      else socket.end("HTTP/1.1 2");
    }),
  );
  const sender = createSender();
  cleanUp(() => sender.close());
  assertAnswered(await sendTo(sender, receiver));
  assert.equal((await sendTo(sender, receiver)).outcome, "failed");
  assert.equal(requests, 2);
});

test("bytes that arrive before a request are not read as its response", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, (socket) =>
    onRequest(socket, () => socket.write(ok("asked") + ok("not asked"))),
  );
  const sender = createSender();
  cleanUp(() => sender.close());
  for (let request = 0; request < 3; request += 1) {
    const sent = await sendTo(sender, receiver);
    assert.equal(sent.outcome === "answered" && sent.snippet, "asked");
  }
  assert.equal(receiver.connections.length, 3);
});

test("an idle connection is closed after a while, and an old one after its next use", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, response);
  const idle = createSender({ idleMs: 20 });
  cleanUp(() => idle.close());
  assertAnswered(await sendTo(idle, receiver));
  await eventually("the idle connection is gone", 2_000, () => receiver.open() === 0);
  const old = createSender({ maxAgeMs: 0 });
  cleanUp(() => old.close());
  assertAnswered(await sendTo(old, receiver));
  assertAnswered(await sendTo(old, receiver));
  assert.equal(receiver.connections.length, 3);
});

test("a receiver's keep-alive header can't extend its connection", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, (socket) =>
    onRequest(socket, () => socket.write(ok("", "Keep-Alive: timeout=3600\r\n"))),
  );
  const sender = createSender({ idleMs: 20 });
  cleanUp(() => sender.close());
  assertAnswered(await sendTo(sender, receiver));
  await eventually("the idle connection is gone", 2_000, () => receiver.open() === 0);
});

test("the most recently used connections are kept", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, response);
  const resolve = async (): Promise<{ address: string; family: 4 }[]> => [{ address: "127.0.0.1", family: 4 }];
  const sender = createSender({ maxIdleConnections: 3, resolve });
  cleanUp(() => sender.close());
  const named = (index: number): { url: string } => ({ url: `http://name-${index}.example:${receiver.port}/` });
  for (let index = 0; index < 50; index += 1) assertAnswered(await sendTo(sender, named(index)));
  await eventually("three connections are left", 1_000, () => receiver.open() === 3);
  for (const index of [47, 48, 49]) assertAnswered(await sendTo(sender, named(index)));
  assert.equal(receiver.connections.length, 50);
  assertAnswered(await sendTo(sender, named(46)));
  assert.equal(receiver.connections.length, 51);
});

test("connections of the most recently used receiver are closed last", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, response);
  const resolve = async (): Promise<{ address: string; family: 4 }[]> => [{ address: "127.0.0.1", family: 4 }];
  const sender = createSender({ maxIdleConnections: 3, resolve });
  cleanUp(() => sender.close());
  const [one, two, three] = ["one", "two", "three"].map((name) => ({
    url: `http://${name}.example:${receiver.port}/`,
  }));
  assert.ok(one && two && three);
  const twice = async (): Promise<void> =>
    (await Promise.all([sendTo(sender, one), sendTo(sender, one)])).forEach(assertAnswered);
  await twice();
  assertAnswered(await sendTo(sender, two));
  assertAnswered(await sendTo(sender, one));
  assertAnswered(await sendTo(sender, three));
  await twice();
  assert.equal(receiver.connections.length, 4);
});

test("the next address of a name is tried when one refuses", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, response);
  const addresses = { "second.example": ["127.0.0.3", "127.0.0.1"], "none.example": ["127.0.0.3", "127.0.0.4"] };
  const resolve = async (name: string): Promise<{ address: string; family: 4 }[]> =>
    addresses[name as keyof typeof addresses].map((address) => ({ address, family: 4 }));
  const sender = createSender({ resolve });
  cleanUp(() => sender.close());
  assertAnswered(await sendTo(sender, { url: `http://second.example:${receiver.port}/` }));
  const sent = await sendTo(sender, { url: `http://none.example:${receiver.port}/` });
  assert.equal(sent.outcome === "failed" && `${sent.stage}: ${sent.reason}`, "connect: connection-refused");
});

test("closing waits for requests in flight and rejects new ones", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const asked = Promise.withResolvers<Socket>();
  const receiver = await startReceiver(cleanUp, (socket) => onRequest(socket, () => asked.resolve(socket)));
  const sender = createSender();
  const sending = sendTo(sender, receiver);
  const socket = await asked.promise;
  let closed = false;
  const closing = sender.close().finally(() => {
    closed = true;
  });
  await assert.rejects(sendTo(sender, receiver), /closed/);
  assert.equal(closed, false);
  socket.write(ok());
  assertAnswered(await sending);
  await closing;
  await eventually("the connection is gone", 1_000, () => receiver.open() === 0);
});

test("a process ends after closing its sender, whatever its requests' results; proxies are not used", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, response);
  const mute = await startReceiver(cleanUp, (socket) => socket.resume());
  const proxy = await startReceiver(cleanUp, response);
  const proxyUrl = new URL(proxy.url).origin;
  const proxies = { NODE_USE_ENV_PROXY: "1", http_proxy: proxyUrl, https_proxy: proxyUrl, ALL_PROXY: proxyUrl };
  const script = `
    import { createSender } from ${JSON.stringify(new URL("./sender.ts", import.meta.url).href)};
    const sender = createSender({ timeoutMs: 1_000 });
    const urls = ${JSON.stringify([receiver.url, mute.url, "https://127.0.0.1/", "https://no-such-name.invalid/"])};
    const sending = urls.map((url) => sender.send({ url, headers: {}, body: "{}", allowedNetworks: ["127.0.0.0/8"] }));
    await sender.close();
    console.log((await Promise.all(sending)).map(({ outcome }) => outcome).join());`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module-typescript", "--eval", script], {
    timeout: 10_000,
    env: { ...process.env, ...proxies },
  });
  assert.equal(stdout.trim(), "answered,failed,failed,failed");
  assert.equal(proxy.connections.length, 0);
});
