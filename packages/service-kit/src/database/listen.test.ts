import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { before, describe, test } from "node:test";
import {
  assertPrompt,
  type CleanUp,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  withClient,
} from "@ehr-marketplace/test-kit";
import { createLogger } from "../telemetry/logger.ts";
import { listen } from "./listen.ts";

function listening(cleanUp: CleanUp, url: string, channel = "changes") {
  const seen = { connected: 0, notified: 0, warnings: 0 };
  const payloads: string[] = [];
  let disconnected = 0;
  const listener = listen({
    url,
    service: "listen-test",
    channel,
    onNotification: (payload) => {
      seen.notified += 1;
      payloads.push(payload);
    },
    onConnected: () => {
      seen.connected += 1;
    },
    onDisconnected: () => {
      disconnected += 1;
    },
    logger: createLogger({ service: "test", level: "info" }, { write: () => void (seen.warnings += 1) }),
  });
  cleanUp(() => listener.stop());
  return {
    stop: () => listener.stop(),
    seen,
    payloads,
    disconnected: () => disconnected,
    hasConnected: (times: number) => eventually("connected", 15_000, () => seen.connected === times),
  };
}

/** A proxy between listener and database that can stop forwarding without closing, like a firewall that dropped its state. */
async function startProxy(cleanUp: CleanUp, url: string) {
  const sockets: Socket[] = [];
  const proxy = createServer((socket) => {
    const onward = connect(Number(new URL(url).port), new URL(url).hostname);
    for (const each of [socket, onward]) sockets.push(each.on("error", () => undefined));
    socket.pipe(onward).pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  cleanUp(async () => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  const through = new URL(url);
  through.port = String((proxy.address() as AddressInfo).port);
  const fallSilent = (): void => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return { url: through.href, fallSilent };
}

const notify = (url: string, channel = "changes"): Promise<unknown> =>
  withClient(url, (client) => client.query("select pg_notify($1, 'x')", [channel]));
const backends = (url: string): Promise<number | null> =>
  withClient(url, async (client) => {
    const { rowCount } = await client.query(
      "select from pg_stat_activity where application_name = 'listen-test listener' and datname = current_database()",
    );
    return rowCount;
  });

describe("the database listener", () => {
  const cleanUpAll = cleanUpAfter();
  let url: string;
  before(async () => {
    url = (await cloneDatabase(cleanUpAll)).ownerUrl;
  });

  test("receives notifications of its channel only", async (t) => {
    const { seen, payloads, hasConnected } = listening(cleanUpAfter(t), url);
    await hasConnected(1);
    await notify(url, "other");
    await notify(url);
    await eventually("it arrives", 30_000, () => seen.notified > 0);
    assert.deepEqual(seen, { connected: 1, notified: 1, warnings: 0 });
    assert.deepEqual(payloads, ["x"]);
  });

  test("accepts any channel name", async (t) => {
    const { seen, hasConnected } = listening(cleanUpAfter(t), url, 'Odd "name"; drop table apps');
    await hasConnected(1);
    await notify(url, 'Odd "name"; drop table apps');
    await eventually("it arrives", 30_000, () => seen.notified === 1);
  });

  test("reconnects after its backend is terminated, and receives notifications again", async (t) => {
    const { seen, disconnected, hasConnected } = listening(cleanUpAfter(t), url);
    for (const times of [1, 2, 3]) {
      await hasConnected(times);
      assert.equal(disconnected(), times - 1);
      await notify(url);
      await eventually("it arrives", 30_000, () => seen.notified === times);
      const end =
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listen-test listener'";
      await withClient(url, (client) => client.query(end));
    }
    await hasConnected(4);
    assert.ok(seen.warnings >= 3);
  });

  test("detects and replaces a half-open connection", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const proxy = await startProxy(cleanUp, url);
    const { seen, hasConnected } = listening(cleanUp, proxy.url);
    await hasConnected(1);
    proxy.fallSilent();
    await hasConnected(2);
    await notify(url);
    await eventually("it arrives", 30_000, () => seen.notified === 1);
  });

  test("isn't connected to a read-only database, because nobody notifies there", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const { ownerUrl } = await cloneDatabase(cleanUp);
    const alter = (setting: string): Promise<unknown> =>
      withClient(`${ownerUrl}?options=-c default_transaction_read_only=off`, (client) =>
        client.query(`alter database ${new URL(ownerUrl).pathname.slice(1)} ${setting}`),
      );
    await alter("set default_transaction_read_only = on");
    const { seen, hasConnected } = listening(cleanUp, ownerUrl);
    await eventually("it was tried three times", 30_000, () => seen.warnings >= 3);
    assert.equal(seen.connected, 0);
    await alter("reset default_transaction_read_only");
    await hasConnected(1);
  });

  test("keeps reconnecting to an unavailable database, and stop() doesn't wait for it", async (t) => {
    const cleanUp = cleanUpAfter(t);
    let listener: ReturnType<typeof listening> | undefined;
    const prepare = async (): Promise<void> => {
      const { seen } = (listener = listening(cleanUp, "postgres://nobody@127.0.0.1:1/nothing"));
      await eventually("it was tried three times", 30_000, () => seen.warnings >= 3);
    };
    await assertPrompt(1_000, () => listener?.stop(), prepare);
    assert.equal(listener?.seen.connected, 0);
  });

  test("stop() closes the connection and ends notifications and logging", async (t) => {
    const { stop, seen, hasConnected } = listening(cleanUpAfter(t), url);
    await hasConnected(1);
    await stop();
    await eventually("its backend is gone", 30_000, async () => (await backends(url)) === 0);
    await notify(url);
    assert.deepEqual(seen, { connected: 1, notified: 0, warnings: 0 });
    await stop();
  });

  test("stop() works right after the start", async (t) => {
    const { stop, seen } = listening(cleanUpAfter(t), url);
    await stop();
    await eventually("its backend is gone", 30_000, async () => (await backends(url)) === 0);
    assert.deepEqual(seen, { connected: 0, notified: 0, warnings: 0 });
  });
});
