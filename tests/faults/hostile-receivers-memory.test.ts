import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  ask,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  registerPractices,
  rounds,
  startApiProcess,
  startCallers,
  startWorkerProcess,
  timeLimitMs,
} from "@ehr-marketplace/tests/support";
import { issue } from "../../services/marketplace/src/webhooks/delivery/send/certificates.test-support.ts";
import {
  drip,
  onRequest,
  pour,
  startReceiver,
} from "../../services/marketplace/src/webhooks/delivery/send/receiver.test-support.ts";

const mebibyte = 1_048_576;
/** Kilobytes kept of each receiver would be more. */
const mostHeld = 12 * mebibyte;
/** What the heap grows by before it is collected; bodies in memory of all requests under way would be more. */
const mostResident = 320 * mebibyte;
const warmUp = 100;

const megabyte = Buffer.alloc(mebibyte, "x");
const bomb = gzipSync(Buffer.alloc(50 * mebibyte));
const ok = "HTTP/1.1 200 OK\r\n";
const error = "HTTP/1.1 500 Oops\r\n";
const bombHead = `${error}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`;

const collectGarbage = new URL("./collect-garbage.test-fixture.ts", import.meta.url).href;

type Behaviour = (socket: Socket) => void;
const answering =
  (answer: (socket: Socket) => void): Behaviour =>
  (socket) =>
    onRequest(socket, () => answer(socket));
const after =
  (head: string, next: (socket: Socket) => void): Behaviour =>
  (socket) =>
    onRequest(socket, () => socket.write(head, () => next(socket)));

/** How each answers, and what the log says of it. */
const quick: [Behaviour, string][] = [
  [after(ok, (socket) => pour(socket, "X-More: and more\r\n".repeat(100))), "headers: headers-too-large"],
  [after(`${error}\r\n`, (socket) => pour(socket, megabyte)), "answered 500"],
  [answering((socket) => socket.write(Buffer.concat([Buffer.from(bombHead), bomb]))), "answered 500"],
  [after(`${ok}Content-Length: 9\r\n\r\nx`, (socket) => socket.resetAndDestroy()), "body: connection-reset"],
];
/** A request to one of these takes all of its ten seconds; few of them are enough. */
const slow: [Behaviour, string][] = [
  [(socket) => socket.resume(), "headers: timed-out"],
  [after(`${ok}Content-Length: 1000\r\n\r\n`, (socket) => drip(socket, "x")), "body: timed-out"],
];

test("a worker's memory stays as it is, however many receivers are hostile, and each is one failed attempt with its reason", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const callers = await startCallers(cleanUp);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const receive = async ([behave, reason]: [Behaviour, string]) => ({
    origin: new URL((await startReceiver(cleanUp, behave)).url).origin,
    reason,
  });
  const broken = await startReceiver(cleanUp, () => {}, { tls: issue({ names: ["127.0.0.1"] }) });
  const quickOnes = await Promise.all(quick.map(receive));
  quickOnes.push({ origin: new URL(broken.url).origin, reason: "tls: certificate-not-trusted" });
  const slowOnes = await Promise.all(slow.map(receive));
  const hostile = (nth: number): { origin: string; reason: string } => {
    const [among, at] = nth % 20 === 0 ? [slowOnes, nth / 20] : [quickOnes, nth];
    return among[at % among.length] ?? assert.fail("there are some");
  };

  const more = rounds(200, 1_000);
  const practices = await registerPractices(ownerUrl, {
    count: warmUp + more,
    callbackUrl: (nth) => hostile(nth).origin,
  });
  const environment = { ...callers.environment, LOG_LEVEL: "error" };
  const api = await startApiProcess(cleanUp, serviceUrl, { environment });
  const worker = await startWorkerProcess(cleanUp, serviceUrl, {
    environment,
    nodeOptions: ["--expose-gc", "--import", collectGarbage],
  });
  const [plan] = (await (await ask(api.url, "/apps/northwind-scribe/pricing", undefined)).json()) as { id: string }[];
  const subscribe = async (from: number, until: number): Promise<void> => {
    const left = practices.slice(from, until);
    const next = async (): Promise<void> => {
      for (let practice = left.pop(); practice !== undefined; practice = left.pop()) {
        const body = { appSlug: "northwind-scribe", orgAlias: practice.alias, pricingPlanId: plan?.id };
        assert.equal((await ask(api.url, "/subscriptions", callers.token("operator"), { body })).status, 201);
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
  /** Heap and buffers, without what only waits to be collected. */
  const heldBytes = async (): Promise<number> => {
    const { collections } = await measure();
    worker.child.kill("SIGWINCH");
    const collected = async (): Promise<boolean> => (await measure()).collections > collections;
    await eventually("its garbage is collected", 10_000, collected);
    return (await measure()).held;
  };
  /** The first attempts that are over: their outcome and reason, by recipient. */
  const judged = (): Promise<Map<string, string>> =>
    withClient(ownerUrl, async (client) => {
      const { rows } = await client.query<{ recipient_id: string; said: string }>(
        `select recipient_id, outcome || ', ' || coalesce(error, 'no reason') as said from delivery_attempts
         where attempt = 1 and outcome <> 'unknown'`,
      );
      return new Map(rows.map((row) => [row.recipient_id, row.said]));
    });
  const allJudged = (count: number): Promise<void> =>
    eventually(`${count} have been tried`, timeLimitMs(count, 1), async () => {
      await measure();
      return (await judged()).size === count;
    });

  await measure();
  const atStart = peak;
  await subscribe(0, warmUp);
  await allJudged(warmUp);
  const before = await heldBytes();
  await Promise.all([subscribe(warmUp, warmUp + more), allJudged(warmUp + more)]);
  const growth = (await heldBytes()) - before;
  const inMebibytes = (bytes: number): string => `${(bytes / mebibyte).toFixed(1)} MiB`;
  t.diagnostic(
    `${more} deliveries to hostile receivers after ${warmUp}: ${inMebibytes(before)} held before, ` +
      `${inMebibytes(growth)} more after; resident ${inMebibytes(atStart)} at the start, never over ${inMebibytes(peak)}`,
  );
  assert.ok(growth < mostHeld, `what is held grew by ${inMebibytes(growth)}`);
  assert.ok(peak - atStart < mostResident, `what is resident grew by ${inMebibytes(peak - atStart)}`);
  const said = await judged();
  for (const [nth, { id }] of practices.entries()) assert.equal(said.get(id), `failed, ${hostile(nth).reason}`);
});
