import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { ReplayDto, StartReplayBody } from "@ehr-marketplace/contracts";
import { loadSubscribers } from "@ehr-marketplace/dev/demo-data";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { v7 as uuid } from "uuid";
import { getReplay, startReplay } from "./manage-replays.ts";
import { developer, minute, type Replayground, startReplayground, vendor } from "./replay.test-support.ts";

const names = ["subscription.created", "subscription.paused", "subscription.resumed", "subscription.cancelled"];
const everything = { from: minute(0), to: minute(100_000) };

describe("a replay of events without a delivery to its endpoint", () => {
  const cleanUp = cleanUpAfter();
  let ground: Replayground;
  before(async () => {
    const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "demo");
    await loadSubscribers(ownerUrl, "https://ehr.example");
    ground = await startReplayground(cleanUp, {
      serviceUrl,
      query: <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
        withClient(ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]),
      encryption: createEncryption(parseEncryptionKeys(developmentEncryptionKeys)),
    });
    // Of every demo subscription: four events, a minute apart from the first of its vendor's times; one of another vendor too.
    await ground.query("delete from events");
    await ground.query(
      `insert into events (id, event, subscription_id, sequence, occurred_at, payload)
       select mint_uuid(), ($1::text[])[n], s.id, n, $2::timestamptz + (n - 1) * interval '1 minute', '{}'
       from subscriptions s join apps on apps.id = s.app_id, generate_series(1, 4) n
       where apps.slug in ('northwind-scribe', 'lumen-schedule')`,
      names,
      minute(0),
    );
  });

  const endpoint = async (events: string[]): Promise<string> => {
    const id = uuid();
    await ground.query(
      `insert into webhook_endpoints (id, vendor_id, url, events, encrypted_secret, created_at, updated_at)
       select $1, id, 'http://127.0.0.1:9', $3, '1.unread', now(), now() from vendors where slug = $2`,
      id,
      vendor,
      events,
    );
    return id;
  };
  const start = (endpointId: string, body: StartReplayBody): Promise<ReplayDto> =>
    startReplay(ground, developer, endpointId, body, { key: undefined, method: "POST", path: "/", body });
  const progress = (endpointId: string, { id }: ReplayDto): Promise<ReplayDto> =>
    getReplay(ground.database, developer, { endpointId, replayId: id });
  interface DeliveryState {
    id: string;
    subscription_id: string;
    sequence: number;
    slug: string;
    attempts: number;
  }
  const readDeliveries = (endpointId: string): Promise<DeliveryState[]> =>
    ground.query(
      `select d.id, d.subscription_id, d.sequence, d.attempts, apps.slug from deliveries d
       join subscriptions s on s.id = d.subscription_id join apps on apps.id = s.app_id where d.recipient_id = $1`,
      endpointId,
    );
  /** Runs the replay to its end and returns each subscription's sequences in the order received. */
  const replayed = async (endpointId: string, body: StartReplayBody): Promise<Map<string, number[]>> => {
    const replay = await start(endpointId, body);
    const sent: string[] = [];
    for (let steps = 0; (await progress(endpointId, replay)).status === "running"; steps += 1) {
      assert.ok(steps < 50, "it doesn't end");
      await ground.step();
      sent.push(...(await ground.deliver()));
    }
    assert.equal(sent.length, replay.total);
    const byId = new Map((await readDeliveries(endpointId)).map((each) => [each.id, each]));
    const bySubscription = Map.groupBy(sent, (id) => byId.get(id)?.subscription_id ?? "");
    return new Map(
      [...bySubscription].map(([subscriptionId, ids]) => [
        subscriptionId,
        ids.map((id) => byId.get(id)?.sequence ?? 0),
      ]),
    );
  };
  const assertSequences = (sequences: Map<string, number[]>, expected: number[]): void => {
    assert.equal(sequences.size, 60);
    for (const received of sequences.values()) assert.deepEqual(received, expected);
  };

  test("sends its vendor's events that the endpoint selects, in order; the next replay sends the same deliveries", async () => {
    const id = await endpoint(["subscription.created", "subscription.cancelled"]);
    assertSequences(await replayed(id, everything), [1, 4]);
    const first = await readDeliveries(id);
    assert.ok(first.every(({ slug, attempts }) => slug === "northwind-scribe" && attempts === 1));
    assertSequences(await replayed(id, everything), [1, 4]);
    const second = await readDeliveries(id);
    assert.deepEqual(
      second.map((each) => `${each.id} ${each.attempts}`).toSorted(),
      first.map((each) => `${each.id} 2`).toSorted(),
    );
  });

  test("sends only events of its range", async () => {
    const id = await endpoint(names);
    assertSequences(await replayed(id, { from: minute(1), to: minute(3) }), [2, 3]);
  });

  test("sends newly selected events in order with those that were delivered before", async () => {
    const id = await endpoint(["subscription.created", "subscription.cancelled"]);
    await replayed(id, everything);
    await ground.query("update webhook_endpoints set events = $2 where id = $1", id, names);
    assertSequences(await replayed(id, everything), [1, 2, 3, 4]);
  });

  test("excludes other endpoints' deliveries and pings", async () => {
    await ground.query(
      `insert into events (id, event, vendor_id, occurred_at, payload)
       select mint_uuid(), 'ping', id, $2, '{}' from vendors where slug = $1`,
      vendor,
      minute(1),
    );
    const id = await endpoint(["ping", "subscription.cancelled"]);
    assertSequences(await replayed(id, everything), [4]);
    const [{ pings } = { pings: -1 }] = await ground.query<{ pings: number }>(
      `select count(*)::int as pings from deliveries d join events e on e.id = d.event_id
       where d.recipient_id = $1 and e.event = 'ping'`,
      id,
    );
    assert.equal(pings, 0);
  });

  test("is done without a delivery when the endpoint selects none of them", async () => {
    await ground.query(
      `insert into events (id, event, vendor_id, occurred_at, payload)
       select mint_uuid(), 'usage.reported', vendors.id, $2, '{}' from vendors, generate_series(1, 2500) where slug = $1`,
      vendor,
      minute(500),
    );
    const id = await endpoint(["app.updated"]);
    assert.equal((await replayed(id, everything)).size, 0);
  });
});
