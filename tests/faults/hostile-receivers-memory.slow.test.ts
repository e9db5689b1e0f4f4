import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, rounds, timeLimitMs, withClient } from "@ehr-marketplace/test-kit";
import { issue } from "@ehr-marketplace/test-kit/certificates";
import { drip, onRequest, pour, startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { startApiProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";

const mebibyte = 1_048_576;
/** A leak of kilobytes per receiver would exceed this. */
const maxHeldGrowthBytes = 12 * mebibyte;
/** Allows for garbage between collections; buffering the bodies of all requests in flight would exceed this. */
const maxResidentGrowthBytes = 320 * mebibyte;
const warmUp = 100;

const megabyte = Buffer.alloc(mebibyte, "x");
const bomb = gzipSync(Buffer.alloc(50 * mebibyte));
const ok = "HTTP/1.1 200 OK\r\n";
const error = "HTTP/1.1 500 Oops\r\n";
const bombHead = `${error}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`;

const collectGarbage = new URL("./collect-garbage.test-fixture.ts", import.meta.url).href;

type Behaviour = (socket: Socket) => void;
const respondWith =
  (respond: (socket: Socket) => void): Behaviour =>
  (socket) =>
    onRequest(socket, () => respond(socket));
const sendHeadThen =
  (head: string, next: (socket: Socket) => void): Behaviour =>
  (socket) =>
    onRequest(socket, () => socket.write(head, () => next(socket)));

/** Each behaviour with the error that the attempt log records. */
const quick: [Behaviour, string][] = [
  [sendHeadThen(ok, (socket) => pour(socket, "X-More: and more\r\n".repeat(100))), "headers: headers-too-large"],
  [sendHeadThen(`${error}\r\n`, (socket) => pour(socket, megabyte)), "answered 500"],
  [respondWith((socket) => socket.write(Buffer.concat([Buffer.from(bombHead), bomb]))), "answered 500"],
  [sendHeadThen(`${ok}Content-Length: 9\r\n\r\nx`, (socket) => socket.resetAndDestroy()), "body: connection-reset"],
];
/** A request to one of these takes the full ten-second timeout, so only few deliveries go to them. */
const slow: [Behaviour, string][] = [
  [(socket) => socket.resume(), "headers: timed-out"],
  [sendHeadThen(`${ok}Content-Length: 1000\r\n\r\n`, (socket) => drip(socket, "x")), "body: timed-out"],
];

test("a worker's memory stays bounded with any number of hostile receivers, and each request is one failed attempt with its reason", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const callers = await fetchCallers();
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const receive = async ([behave, reason]: [Behaviour, string]) => ({
    scheme: "http",
    port: (await startReceiver(cleanUp, behave, { host: "0.0.0.0" })).port,
    reason,
  });
  const tls = issue({ names: ["127.0.0.1"] });
  const broken = await startReceiver(cleanUp, () => {}, { tls, host: "0.0.0.0" });
  const quickReceivers = await Promise.all(quick.map(receive));
  quickReceivers.push({ scheme: "https", port: broken.port, reason: "tls: certificate-not-trusted" });
  const slowReceivers = await Promise.all(slow.map(receive));
  const hostile = (nth: number): { scheme: string; port: number; reason: string } => {
    const [among, at] = nth % 20 === 0 ? [slowReceivers, nth / 20] : [quickReceivers, nth];
    return among[at % among.length] ?? assert.fail("no receiver");
  };
  /** Each practice has an address of its own: practices of one host would be held together. */
  const callbackUrl = (nth: number): string => {
    const { scheme, port } = hostile(nth);
    return `${scheme}://127.1.${nth >> 8}.${nth & 255}:${port}`;
  };

  const more = rounds(200, 1_000);
  const practices = await registerPractices(ownerUrl, { count: warmUp + more, callbackUrl });
  const environment = { ...callers.environment, LOG_LEVEL: "error" };
  const api = await startApiProcess(cleanUp, serviceUrl, { environment });
  const worker = await startWorkerProcess(cleanUp, serviceUrl, {
    environment,
    nodeOptions: ["--expose-gc", "--import", collectGarbage],
  });
  const [plan] = (await (await sendApiRequest(api.url, "/apps/northwind-scribe/pricing", undefined)).json()) as {
    id: string;
  }[];
  const subscribe = async (from: number, until: number): Promise<void> => {
    const left = practices.slice(from, until);
    const next = async (): Promise<void> => {
      for (let practice = left.pop(); practice !== undefined; practice = left.pop()) {
        const body = { appSlug: "northwind-scribe", orgAlias: practice.alias, pricingPlanId: plan?.id };
        assert.equal(
          (await sendApiRequest(api.url, "/subscriptions", callers.token("operator"), { body })).status,
          201,
        );
      }
    };
    await Promise.all(Array.from({ length: 10 }, next));
  };
  let peak = 0;
  const measure = async (): Promise<{ held: number; collections: number }> => {
    const metrics = await (await fetch(`${worker.url}/metrics`)).text();
    const read = (pattern: string): number => Number(new RegExp(`^${pattern} (\\S+)$`, "m").exec(metrics)?.[1] ?? 0);
    peak = Math.max(peak, read("process_resident_memory_bytes\\S*"));
    const held = read("nodejs_heap_size_used_bytes\\S*") + read("nodejs_external_memory_bytes\\S*");
    return { held, collections: read('nodejs_gc_duration_seconds_count.*kind="major".*') };
  };
  /** Returns the bytes of heap and buffers after a garbage collection. */
  const heldBytes = async (): Promise<number> => {
    const { collections } = await measure();
    worker.child.kill("SIGWINCH");
    const collected = async (): Promise<boolean> => (await measure()).collections > collections;
    await eventually("garbage is collected", 30_000, collected);
    return (await measure()).held;
  };
  /** Reads outcome and error of the finished first attempts, by recipient. */
  const readFirstAttempts = (): Promise<Map<string, string>> =>
    withClient(ownerUrl, async (client) => {
      const { rows } = await client.query<{ recipient_id: string; result: string }>(
        `select recipient_id, outcome || ', ' || coalesce(error, 'no reason') as result from delivery_attempts
         where attempt = 1 and outcome <> 'unknown'`,
      );
      return new Map(rows.map((row) => [row.recipient_id, row.result]));
    });
  const waitForFirstAttempts = (count: number): Promise<void> =>
    eventually(`${count} first attempts`, timeLimitMs(count, 1), async () => {
      await measure();
      return (await readFirstAttempts()).size === count;
    });

  await measure();
  const atStart = peak;
  await subscribe(0, warmUp);
  await waitForFirstAttempts(warmUp);
  const before = await heldBytes();
  await Promise.all([subscribe(warmUp, warmUp + more), waitForFirstAttempts(warmUp + more)]);
  const growth = (await heldBytes()) - before;
  const inMebibytes = (bytes: number): string => `${(bytes / mebibyte).toFixed(1)} MiB`;
  t.diagnostic(
    `${more} deliveries to hostile receivers after ${warmUp}: ${inMebibytes(before)} held before, ` +
      `${inMebibytes(growth)} more after; resident ${inMebibytes(atStart)} at the start, never over ${inMebibytes(peak)}`,
  );
  assert.ok(growth < maxHeldGrowthBytes, `held memory grew by ${inMebibytes(growth)}`);
  assert.ok(peak - atStart < maxResidentGrowthBytes, `resident memory grew by ${inMebibytes(peak - atStart)}`);
  const result = await readFirstAttempts();
  for (const [nth, { id }] of practices.entries()) assert.equal(result.get(id), `failed, ${hostile(nth).reason}`);
});
