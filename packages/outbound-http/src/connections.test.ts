import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { issue } from "@ehr-marketplace/test-kit/certificates";
import { ok, onRequest, type Receiver, startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import type { OutboundResult } from "./outbound-client.ts";
import { createOutboundClient, type OutboundClient } from "./outbound-client.ts";

const loopback = ["127.0.0.0/8"];
const respond = (socket: Socket): void => onRequest(socket, () => socket.write(ok()));
const sendTo = (
  client: OutboundClient,
  { url }: Pick<Receiver, "url">,
  allowedNetworks = loopback,
): Promise<OutboundResult> => client.request({ url, headers: {}, body: "{}", allowedNetworks });
const assertResponded = (sent: OutboundResult): void => assert.equal(sent.outcome, "responded", JSON.stringify(sent));

test("requests to one receiver follow each other over one connection, and run beside each other over several", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, respond);
  const client = createOutboundClient();
  cleanUp(() => client.close());
  for (let request = 0; request < 5; request += 1) assertResponded(await sendTo(client, receiver));
  assert.equal(receiver.connections.length, 1);
  const together = await Promise.all(Array.from({ length: 4 }, () => sendTo(client, receiver)));
  together.forEach(assertResponded);
  assert.equal(receiver.connections.length, 4);
});

test("a connection is not shared with another origin or under other rules", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, respond);
  const client = createOutboundClient({ resolve: async () => [{ address: "127.0.0.1", family: 4 }] });
  cleanUp(() => client.close());
  assertResponded(await sendTo(client, receiver));
  const strict = await sendTo(client, receiver, ["127.0.0.2/32"]);
  assert.equal(strict.outcome === "failed" && strict.reason, "address-not-allowed");
  assertResponded(await sendTo(client, receiver, ["127.0.0.1/32"]));
  assertResponded(await sendTo(client, { url: `http://one.example:${receiver.port}/` }));
  assertResponded(await sendTo(client, { url: `http://two.example:${receiver.port}/` }));
  assert.equal(receiver.connections.length, 4);
});

for (const secure of [false, true]) {
  test(`a connection that the receiver closes is no failure of it, ${secure ? "with" : "without"} TLS`, async (t) => {
    const cleanUp = cleanUpAfter(t);
    const certificate = issue({ names: ["127.0.0.1"] });
    let requests = 0;
    const onlyOne = (socket: Socket): void => {
      let hasResponded = false;
      onRequest(socket, () => {
        requests += 1;
        if (hasResponded) socket.destroy();
        else socket.write(ok());
        hasResponded = true;
      });
    };
    const receiver = await startReceiver(cleanUp, onlyOne, secure ? { tls: certificate } : {});
    const client = createOutboundClient({ trustedCertificates: certificate.cert });
    cleanUp(() => client.close());
    for (let request = 0; request < 3; request += 1) assertResponded(await sendTo(client, receiver));
    assert.deepEqual([receiver.connections.length, requests], [3, 5]);
  });
}

test("a connection that is reset while the next request waits for it is no failure", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, (socket) =>
    onRequest(socket, () => socket.write(ok(), () => setImmediate(() => socket.resetAndDestroy()))),
  );
  const client = createOutboundClient();
  cleanUp(() => client.close());
  for (let request = 0; request < 100; request += 1) assertResponded(await sendTo(client, receiver));
});

test("a receiver that closes on every request gets it at most twice", async (t) => {
  const cleanUp = cleanUpAfter(t);
  let requests = 0;
  const receiver = await startReceiver(cleanUp, (socket) =>
    onRequest(socket, () => {
      requests += 1;
      if (requests === 1) socket.write(ok());
      else socket.destroy();
    }),
  );
  const client = createOutboundClient();
  cleanUp(() => client.close());
  assertResponded(await sendTo(client, receiver));
  const sent = await sendTo(client, receiver);
  assert.equal(sent.outcome === "failed" && sent.reason, "connection-closed");
  assert.equal(requests, 3);
});

test("a request whose response is cut off on a reused connection is not sent again", async (t) => {
  const cleanUp = cleanUpAfter(t);
  let requests = 0;
  const receiver = await startReceiver(cleanUp, (socket) =>
    onRequest(socket, () => {
      requests += 1;
      if (requests === 1) socket.write(ok());
      else socket.end("HTTP/1.1 2");
    }),
  );
  const client = createOutboundClient();
  cleanUp(() => client.close());
  assertResponded(await sendTo(client, receiver));
  assert.equal((await sendTo(client, receiver)).outcome, "failed");
  assert.equal(requests, 2);
});

test("a connection that is lost before its request is written is not replaced", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, respond);
  const client = createOutboundClient();
  cleanUp(() => client.close());
  let sockets = 0;
  const loseSocket = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    sockets += 1;
    socket.once("connect", () => socket.destroy());
  };
  subscribe("net.client.socket", loseSocket);
  cleanUp(async () => unsubscribe("net.client.socket", loseSocket));
  const sent = await sendTo(client, receiver);
  assert.equal(sent.outcome === "failed" && `${sent.stage}: ${sent.reason}`, "headers: connection-closed");
  assert.equal(sockets, 1);
});

test("an unsolicited response is not taken for the next one", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, (socket) =>
    onRequest(socket, () => socket.write(ok("requested") + ok("unsolicited"))),
  );
  const client = createOutboundClient();
  cleanUp(() => client.close());
  for (let request = 0; request < 3; request += 1) {
    const sent = await sendTo(client, receiver);
    assert.equal(sent.outcome === "responded" && sent.snippet, "requested");
  }
  assert.equal(receiver.connections.length, 3);
});

test("an idle connection is closed after idleMs, and one older than maxAgeMs is not used again", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, respond);
  const idle = createOutboundClient({ idleMs: 20 });
  cleanUp(() => idle.close());
  assertResponded(await sendTo(idle, receiver));
  await eventually("the idle connection is gone", 3_000, () => receiver.open() === 0);
  const old = createOutboundClient({ maxAgeMs: 1 });
  cleanUp(() => old.close());
  assertResponded(await sendTo(old, receiver));
  await delay(5);
  assertResponded(await sendTo(old, receiver));
  assert.equal(receiver.connections.length, 3);
});

test("a receiver can't have its connection kept for longer than others", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, (socket) =>
    onRequest(socket, () => socket.write(ok("", "Keep-Alive: timeout=3600\r\n"))),
  );
  const client = createOutboundClient({ idleMs: 20 });
  cleanUp(() => client.close());
  assertResponded(await sendTo(client, receiver));
  await eventually("the idle connection is gone", 3_000, () => receiver.open() === 0);
});

test("of many receivers' connections, the most recently used are kept", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, respond);
  const resolve = async (): Promise<{ address: string; family: 4 }[]> => [{ address: "127.0.0.1", family: 4 }];
  const client = createOutboundClient({ maxIdleConnections: 3, resolve });
  cleanUp(() => client.close());
  const named = (index: number): { url: string } => ({ url: `http://name-${index}.example:${receiver.port}/` });
  for (let index = 0; index < 50; index += 1) assertResponded(await sendTo(client, named(index)));
  await eventually("three connections are left", 30_000, () => receiver.open() === 3);
  for (const index of [47, 48, 49]) assertResponded(await sendTo(client, named(index)));
  assert.equal(receiver.connections.length, 50);
  assertResponded(await sendTo(client, named(46)));
  assert.equal(receiver.connections.length, 51);
});

test("all connections of the receiver used last outlive the one of another", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, respond);
  const resolve = async (): Promise<{ address: string; family: 4 }[]> => [{ address: "127.0.0.1", family: 4 }];
  const client = createOutboundClient({ maxIdleConnections: 3, resolve });
  cleanUp(() => client.close());
  const [one, two, three] = ["one", "two", "three"].map((name) => ({
    url: `http://${name}.example:${receiver.port}/`,
  }));
  assert.ok(one && two && three);
  const twice = async (): Promise<void> =>
    (await Promise.all([sendTo(client, one), sendTo(client, one)])).forEach(assertResponded);
  await twice();
  assertResponded(await sendTo(client, two));
  assertResponded(await sendTo(client, one));
  assertResponded(await sendTo(client, three));
  await twice();
  assert.equal(receiver.connections.length, 4);
});

test("where one address refuses, the next one of the name is tried", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, respond);
  const addresses = { "second.example": ["127.0.0.3", "127.0.0.1"], "none.example": ["127.0.0.3", "127.0.0.4"] };
  const resolve = async (name: string): Promise<{ address: string; family: 4 }[]> =>
    addresses[name as keyof typeof addresses].map((address) => ({ address, family: 4 }));
  const client = createOutboundClient({ resolve });
  cleanUp(() => client.close());
  assertResponded(await sendTo(client, { url: `http://second.example:${receiver.port}/` }));
  const sent = await sendTo(client, { url: `http://none.example:${receiver.port}/` });
  assert.equal(sent.outcome === "failed" && `${sent.stage}: ${sent.reason}`, "connect: connection-refused");
});

test("closing waits for requests in progress, and rejects new ones", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const requested = Promise.withResolvers<Socket>();
  const receiver = await startReceiver(cleanUp, (socket) => onRequest(socket, () => requested.resolve(socket)));
  const client = createOutboundClient();
  const sending = sendTo(client, receiver);
  const socket = await requested.promise;
  let closed = false;
  const closing = client.close().finally(() => {
    closed = true;
  });
  await assert.rejects(sendTo(client, receiver), /closed/);
  assert.equal(closed, false);
  socket.write(ok());
  assertResponded(await sending);
  await closing;
  await eventually("the connection is gone", 3_000, () => receiver.open() === 0);
});

test("a process that has closed its client ends, whatever became of its requests; proxies are not used", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, respond);
  const mute = await startReceiver(cleanUp, (socket) => socket.resume());
  const proxy = await startReceiver(cleanUp, respond);
  const proxyUrl = new URL(proxy.url).origin;
  const proxies = { NODE_USE_ENV_PROXY: "1", http_proxy: proxyUrl, https_proxy: proxyUrl, ALL_PROXY: proxyUrl };
  const script = `
    import { createOutboundClient } from ${JSON.stringify(new URL("./outbound-client.ts", import.meta.url).href)};
    const client = createOutboundClient({ timeoutMs: 5_000 });
    const urls = ${JSON.stringify([receiver.url, mute.url, "https://127.0.0.1/", "https://no-such-name.invalid/"])};
    const sending = urls.map((url) => client.request({ url, headers: {}, body: "{}", allowedNetworks: ["127.0.0.0/8"] }));
    await client.close();
    console.log((await Promise.all(sending)).map(({ outcome }) => outcome).join());`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module-typescript", "--eval", script], {
    timeout: 60_000,
    env: { ...process.env, ...proxies },
  });
  assert.equal(stdout.trim(), "responded,failed,failed,failed");
  assert.equal(proxy.connections.length, 0);
});
