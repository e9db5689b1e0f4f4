import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { ok, onRequest, pour, type Receiver, startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import { createOutboundClient } from "./outbound-client.ts";

const head = "HTTP/1.1 200 OK\r\n";
type Behave = (socket: Socket) => void;
const hostile: Behave[] = [
  (socket) => socket.resume(),
  (socket) => onRequest(socket, () => socket.resetAndDestroy()),
  (socket) => onRequest(socket, () => socket.end(`${head}Content-Le`)),
  (socket) => onRequest(socket, () => socket.end("Good morning!\r\n")),
  (socket) => onRequest(socket, () => socket.write(head, () => pour(socket, "X-More: and more\r\n".repeat(1_000)))),
  (socket) => onRequest(socket, () => socket.write(`${head}\r\n`, () => pour(socket, "x".repeat(65_536)))),
  (socket) => onRequest(socket, () => socket.write(`${head}Content-Length: 10\r\n\r\nx`)),
];
const good: Behave[] = [
  (socket) => onRequest(socket, () => socket.write(`${ok()}${ok()}`)),
  (socket) => onRequest(socket, () => socket.write(ok("x".repeat(60_000)))),
  (socket) => onRequest(socket, () => socket.write(ok())),
];

const count = (resource: string): number =>
  process.getActiveResourcesInfo().filter((name) => name.startsWith(resource)).length;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function usedMegabytes(): number {
  collectGarbage();
  // Not `external`: the HTTP parser's own memory grows with the longest read, up to some megabytes, and stays.
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1_048_576;
}

test("a thousand requests to hostile receivers leave neither memory nor sockets nor timers behind", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const startAll = (behaviours: Behave[]): Promise<Receiver[]> =>
    Promise.all(behaviours.map((behave) => startReceiver(cleanUp, behave)));
  const [hostiles, goods] = [await startAll(hostile), await startAll(good)];
  const receivers = [...hostiles, ...goods];
  const timersBefore = count("Timeout");
  // Those that respond are waited for, however busy the machine is; those that hang need not be.
  const [hasty, patient] = [createOutboundClient({ timeoutMs: 250 }), createOutboundClient({ timeoutMs: 30_000 })];

  const counts = { responded: 0, failed: 0 };
  const sendToAll = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      const requests = receivers.flatMap((receiver) => {
        const client = goods.includes(receiver) ? patient : hasty;
        const request = { url: receiver.url, headers: {}, body: '{"event":"ping"}', allowedNetworks: ["127.0.0.0/8"] };
        return Array.from({ length: 10 }, () => client.request(request));
      });
      const sent = await Promise.all(requests);
      for (const { outcome } of sent) counts[outcome] += 1;
    }
  };
  /** The receivers live in this process too, and what they remember is not the client's. */
  const forgetConnections = async (idle: number): Promise<void> => {
    const open = (): number => receivers.reduce((sum, receiver) => sum + receiver.open(), 0);
    await eventually(`${idle} connections are open`, 20_000, () => open() <= idle);
    for (const { connections } of receivers) {
      connections.splice(0, connections.length, ...connections.filter((socket) => !socket.destroyed));
    }
  };

  await sendToAll(3);
  await forgetConnections(20);
  const before = usedMegabytes();
  await sendToAll(10);
  await forgetConnections(20);
  await eventually("the memory is free again", 20_000, () => usedMegabytes() - before < 4);

  assert.ok(counts.responded > 100 && counts.failed > 600, JSON.stringify(counts));

  await hasty.close();
  await patient.close();
  await forgetConnections(0);
  await eventually("no socket of ours is left", 20_000, () => count("TCPSocketWrap") === 0);
  await eventually("no timer of ours is left", 20_000, () => count("Timeout") <= timersBefore + 1);
});
