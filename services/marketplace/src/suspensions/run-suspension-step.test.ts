import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { before, describe, test } from "node:test";
import type { AuditPage, SubscriptionDto } from "@ehr-marketplace/contracts";
import { insertSubscribers } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import { findInconsistencies } from "@ehr-marketplace/tests/support/subscription-consistency";
import { batchSize, runDueSuspensions, runSuspensionStep, sweepSuspensions } from "./run-suspension-step.ts";
import { pausing, type SuspensionGround, startSuspensionGround } from "./suspension.test-support.ts";

const practiceCount = 2 * batchSize + 100;

describe("an app whose suspension pauses subscriptions", () => {
  const cleanUp = cleanUpAfter();
  let ground: SuspensionGround;
  before(async () => {
    ground = await startSuspensionGround(cleanUp, practiceCount);
  });

  const change = (id: string, command: string, body?: object): Promise<Response> =>
    ground.marketplace.requestAs("operator", `/subscriptions/${id}/${command}`, {
      method: "POST",
      ...(body === undefined ? {} : { body }),
    });
  const changed = async (id: string, command: string, body?: object): Promise<SubscriptionDto> => {
    const response = await change(id, command, body);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as SubscriptionDto;
  };
  interface Stored {
    id: string;
    state: string;
    by_suspension: boolean;
    revision: number;
  }
  const stored = async (appSlug: string): Promise<Map<string, Stored>> => {
    const rows = await ground.query<Stored>(
      `select s.id, s.status || coalesce(' ' || s.pause_reason, '') as state, s.suspension_id is not null as by_suspension,
         s.revision
       from subscriptions s join apps on apps.id = app_id where slug = $1`,
      appSlug,
    );
    return new Map(rows.map((row) => [row.id, row]));
  };
  const countStates = async (appSlug: string): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const { state } of (await stored(appSlug)).values()) counts[state] = (counts[state] ?? 0) + 1;
    return counts;
  };
  /** Of the service's role, as the transactions of requests. */
  const withOpenTransaction = (work: () => Promise<void>): Promise<void> =>
    withClient(ground.marketplace.database.serviceUrl, async (client) => {
      await client.query("begin");
      await work();
      await client.query("commit");
    });
  const assertConsistent = async (): Promise<void> =>
    assert.deepEqual(await findInconsistencies(ground.marketplace.database.ownerUrl), []);
  /** The names of a subscription's events to each of its recipients, in the order in which they were delivered. */
  const eventsByRecipient = (ids: string[]): Promise<{ id: string; kind: string; events: string[] }[]> =>
    ground.query(
      `select d.subscription_id as id, r.kind, array_agg(e.event order by d.sequence) as events
       from deliveries d join events e on e.id = event_id join recipients r on r.id = recipient_id
       where d.subscription_id = any ($1) group by 1, 2, d.recipient_id`,
      ids,
    );

  test("has every active one paused, and nothing else, with one event to EHR and vendor and an audit entry each", async () => {
    const slug = "northwind-scribe";
    await ground.query(
      `insert into webhook_endpoints (id, vendor_id, url, events, encrypted_secret, created_at, updated_at)
       select mint_uuid(), id, 'http://127.0.0.1:9', '{subscription.paused,subscription.resumed}', '1.unread', now(), now()
       from vendors where slug = 'northwind-health'`,
    );
    const ids = await ground.subscribe(slug, practiceCount);
    const [requested = "", cancelled = "", unpaid = "", ...active] = ids;
    const others = await ground.subscribe("lumen-schedule", 3);
    await changed(requested, "pause", { reason: "ORG_REQUEST" });
    await changed(unpaid, "pause", { reason: "NON_PAYMENT" });
    await changed(cancelled, "cancel");
    await ground.deliver();
    const earlier = await stored(slug);
    const suspended = await ground.operate(slug, "suspend", pausing);
    assertShape("AdminAppDto", suspended);
    assert.deepEqual(suspended.suspension?.subscriptions, { state: "pausing", found: 0, paused: 0, resumed: 0 });
    await ground.step();
    const first = await ground.progress(slug);
    assert.deepEqual(first?.subscriptions, { state: "pausing", found: active.length, paused: batchSize, resumed: 0 });
    await ground.finish();
    const { length } = active;
    assert.deepEqual((await ground.progress(slug))?.subscriptions, {
      state: "paused",
      found: length,
      paused: length,
      resumed: 0,
    });
    const after = await stored(slug);
    for (const id of active) {
      assert.deepEqual(after.get(id), { id, state: "paused SECURITY", by_suspension: true, revision: 2 });
    }
    for (const id of [requested, cancelled, unpaid]) assert.deepEqual(after.get(id), earlier.get(id));
    assert.deepEqual(
      [...(await stored("lumen-schedule")).values()].filter(({ id }) => others.includes(id)).map(({ state }) => state),
      ["active", "active", "active"],
    );

    await ground.deliver();
    const reports = await eventsByRecipient(active);
    assert.equal(reports.length, 2 * length);
    for (const { events } of reports) assert.deepEqual(events, ["subscription.paused"]);
    const audit = await ground.marketplace.requestAs("operator", `/organisations/${ground.practices[5]?.alias}/audit`);
    const [entry] = ((await audit.json()) as AuditPage).items;
    const { pauseReason } = (entry?.after ?? {}) as Partial<SubscriptionDto>;
    assert.deepEqual(
      [entry?.action, entry?.actor.subject, entry?.actor.role, entry?.target.id, pauseReason],
      ["subscription.pause", "operator", "operator", ids[5], "SECURITY"],
    );
    await assertConsistent();

    const reinstated = await ground.operate(slug, "reinstate");
    assert.deepEqual([reinstated.status, reinstated.suspension?.subscriptions?.state], ["published", "resuming"]);
    assert.equal(reinstated.suspension?.reason, pausing.reason);
    await ground.finish();
    assert.equal(await ground.progress(slug), null);
    assert.deepEqual(await countStates(slug), {
      active: length,
      cancelled: 1,
      "paused NON_PAYMENT": 1,
      "paused ORG_REQUEST": 1,
    });
    await ground.deliver();
    for (const { events } of await eventsByRecipient(active)) {
      assert.deepEqual(events, ["subscription.paused", "subscription.resumed"]);
    }
    assert.deepEqual(await ground.query("select from deliveries where settled_at is null"), []);
    await assertConsistent();
  });

  test("stops at the next batch when it is reinstated, and has what was paused resumed", async () => {
    const slug = "lab-lantern";
    await ground.subscribe(slug, practiceCount);
    await ground.operate(slug, "suspend", pausing);
    await ground.step();
    await ground.operate(slug, "reinstate");
    await ground.finish();
    assert.deepEqual(await countStates(slug), { active: practiceCount });
    const revisions = [...(await stored(slug)).values()].map(({ revision }) => revision);
    assert.equal(revisions.filter((revision) => revision === 3).length, batchSize);
    assert.equal(revisions.filter((revision) => revision === 1).length, practiceCount - batchSize);
    const [ended] = await ground.query(
      "select state, paused, resumed from suspensions order by started_at desc limit 1",
    );
    assert.deepEqual(ended, { state: "ended", paused: batchSize, resumed: batchSize });
    await assertConsistent();
  });

  test("has none resumed by anybody until it is reinstated; cancelled ones stay cancelled", async () => {
    const slug = "cuffline";
    const [paused = "", requested = "", cancelled = ""] = await ground.subscribe(slug, 20);
    await changed(requested, "pause", { reason: "ORG_REQUEST" });
    await ground.operate(slug, "suspend", pausing);
    await assertProblem(await change(requested, "resume"), 409, "app-suspended");
    await ground.finish();
    for (const id of [paused, requested]) await assertProblem(await change(id, "resume"), 409, "app-suspended");
    assert.equal((await changed(paused, "pause", { reason: "SECURITY" })).status, "paused");
    await assertProblem(await change(paused, "pause", { reason: "OPERATOR_HOLD" }), 409, "paused-for-another-reason");
    assert.equal((await changed(cancelled, "cancel")).status, "cancelled");
    assert.equal((await stored(slug)).get(cancelled)?.by_suspension, false);
    await ground.operate(slug, "reinstate");
    assert.equal((await changed(requested, "resume")).status, "active");
    assert.equal((await changed(paused, "resume")).status, "active");
    await ground.finish();
    assert.deepEqual(await countStates(slug), { active: 19, cancelled: 1 });
    await assertConsistent();
  });

  test("keeps those paused that an operator pauses for SECURITY meanwhile, without another event", async () => {
    const slug = "cuffline";
    const [kept = ""] = (await stored(slug))
      .values()
      .filter(({ state }) => state === "active")
      .map(({ id }) => id);
    await ground.operate(slug, "suspend", pausing);
    await ground.finish();
    const paused = (await stored(slug)).get(kept);
    const own = await changed(kept, "pause", { reason: "SECURITY" });
    assert.deepEqual((await stored(slug)).get(kept), { ...paused, by_suspension: false });
    assert.deepEqual(await changed(kept, "pause", { reason: "SECURITY" }), own);
    const audited = await ground.query<{ was: boolean; is: boolean; kept: boolean }>(
      `select before -> 'suspensionId' is not null as was, after -> 'suspensionId' is not null as is,
         before ->> 'pausedAt' = after ->> 'pausedAt' as kept
       from audit_entries where target_id = $1 and action = 'subscription.pause' order by at, id`,
      kept,
    );
    assert.deepEqual(audited.slice(-2), [
      { was: false, is: true, kept: null },
      { was: true, is: false, kept: true },
    ]);
    await ground.operate(slug, "reinstate");
    await ground.finish();
    assert.deepEqual(await countStates(slug), { active: 18, cancelled: 1, "paused SECURITY": 1 });
    assert.equal((await changed(kept, "resume")).status, "active");
    await assertConsistent();
  });

  test("has none paused without pauseSubscriptions, and none is resumed until it is reinstated", async () => {
    const slug = "inbox-heron";
    const [requested = ""] = await ground.subscribe(slug, 5);
    await changed(requested, "pause", { reason: "ORG_REQUEST" });
    const { suspension } = await ground.operate(slug, "suspend", { reason: "Its page is gone" });
    assert.deepEqual([suspension?.reason, suspension?.subscriptions], ["Its page is gone", null]);
    await ground.finish();
    await assertProblem(await change(requested, "resume"), 409, "app-suspended");
    assert.deepEqual(await countStates(slug), { active: 4, "paused ORG_REQUEST": 1 });
    assert.equal((await ground.operate(slug, "reinstate")).suspension, null);
    assert.equal((await changed(requested, "resume")).status, "active");
  });

  test("suspended without pausing, can have its subscriptions paused later, once", async () => {
    const slug = "inbox-heron";
    const suspend = (body: object): Promise<Response> =>
      ground.marketplace.requestAs("operator", `/admin/apps/${slug}/suspend`, { method: "POST", body });
    const { suspension: earlier } = await ground.operate(slug, "suspend", { reason: "Its page is gone" });
    await assertProblem(await suspend({ reason: "Once more" }), 409, "already-suspended");
    const { suspension } = await ground.operate(slug, "suspend", pausing);
    assert.deepEqual(suspension, {
      since: earlier?.since,
      reason: pausing.reason,
      subscriptions: { state: "pausing", found: 0, paused: 0, resumed: 0 },
    });
    await assertProblem(await suspend(pausing), 409, "already-suspended");
    await ground.finish();
    await assertProblem(await suspend(pausing), 409, "already-suspended");
    assert.deepEqual(await countStates(slug), { "paused SECURITY": 5 });
    const [audited] = await ground.query<{ before: object; after: object }>(
      "select before, after from audit_entries where action = 'app.suspend' order by at desc limit 1",
    );
    assert.deepEqual(audited, {
      before: { suspension: { reason: "Its page is gone", pauseSubscriptions: false } },
      after: { suspension: pausing },
    });
    await ground.operate(slug, "reinstate");
    await ground.operate(slug, "suspend", { reason: "While they are resumed" });
    const turned = await ground.operate(slug, "suspend", pausing);
    assert.equal(turned.suspension?.subscriptions?.state, "pausing");
    await ground.finish();
    assert.deepEqual(await countStates(slug), { "paused SECURITY": 5 });
    await ground.operate(slug, "reinstate");
    await ground.finish();
    assert.deepEqual(await countStates(slug), { active: 5 });
    await assertConsistent();
  });

  test("has a subscription paused that a request in progress created after the first pass", async () => {
    const target = "kestrel-keys";
    await ground.subscribe(target, 3);
    await withOpenTransaction(async () => {
      await ground.operate(target, "suspend", pausing);
      await ground.step();
      const [job] = await ground.query<{ late: boolean }>(
        "select start_after > now() + interval '5 seconds' as late from pgboss.job where name = 'suspensions'",
      );
      assert.equal(job?.late, true, "the last pass waits for requests in progress");
      for (let nth = 0; nth < 3; nth += 1) assert.equal(await ground.step(), 1, "it goes on waiting");
      assert.equal((await ground.progress(target))?.subscriptions?.state, "pausing");
      await insertSubscribers(ground.marketplace.database.ownerUrl, target, ground.practices.slice(10, 12));
    });
    await ground.finish();
    assert.deepEqual(await countStates(target), { "paused SECURITY": 5 });
    assert.deepEqual((await ground.progress(target))?.subscriptions, {
      state: "paused",
      found: 5,
      paused: 5,
      resumed: 0,
    });
    await ground.operate(target, "reinstate");
    await ground.finish();
    assert.deepEqual(await countStates(target), { active: 5 });
  });

  test("is paused at last, although a transaction doesn't end", async () => {
    const target = "kestrel-keys";
    await withOpenTransaction(async () => {
      await ground.operate(target, "suspend", pausing);
      await ground.step();
      await ground.step();
      assert.equal((await ground.progress(target))?.subscriptions?.state, "pausing");
      await ground.query("update pgboss.job set start_after = now() where name = 'suspensions'");
      await runDueSuspensions({ ...ground.deps, lastPassMaxMs: 0 }, { stopped: new AbortController().signal });
      assert.equal((await ground.progress(target))?.subscriptions?.state, "paused");
    });
    await ground.operate(target, "reinstate");
    await ground.finish();
    assert.deepEqual(await countStates(target), { active: 5 });
  });

  test("suspended again while they are resumed, has all paused, and all resumed in the end", async () => {
    const slug = "lab-lantern";
    const count = (await stored(slug)).size;
    await ground.operate(slug, "suspend", pausing);
    await ground.finish();
    await ground.operate(slug, "reinstate");
    await ground.step();
    const again = await ground.operate(slug, "suspend", { ...pausing, reason: "Once more" });
    assert.deepEqual([again.suspension?.reason, again.suspension?.subscriptions?.state], ["Once more", "pausing"]);
    await ground.finish();
    assert.deepEqual((await ground.progress(slug))?.subscriptions, {
      state: "paused",
      found: count,
      paused: count,
      resumed: 0,
    });
    assert.deepEqual(await countStates(slug), { "paused SECURITY": count });
    await ground.operate(slug, "reinstate");
    await ground.finish();
    assert.deepEqual(await countStates(slug), { active: count });
    await assertConsistent();
  });

  test("loses no step: a job that another worker took over changes nothing, and a missing one is replaced", async () => {
    const slug = "cuffline";
    await ground.operate(slug, "suspend", pausing);
    const [{ id } = assert.fail()] = await ground.query<{ id: string }>(
      "select id from pgboss.job where name = 'suspensions'",
    );
    await runSuspensionStep(ground.deps, { id, retryCount: 7 });
    assert.equal((await countStates(slug))["active"], 19);
    await ground.query("delete from pgboss.job where name = 'suspensions'");
    assert.equal(await sweepSuspensions(ground.deps), 1);
    assert.equal(await sweepSuspensions(ground.deps), 0);
    const stopping = new AbortController();
    await runDueSuspensions(ground.deps, { stopped: stopping.signal });
    assert.deepEqual(await countStates(slug), { cancelled: 1, "paused SECURITY": 19 });
    await ground.operate(slug, "reinstate");
    await runDueSuspensions(ground.deps, { stopped: stopping.signal });
    assert.deepEqual(await countStates(slug), { active: 19, cancelled: 1 });
    assert.equal(await sweepSuspensions(ground.deps), 0);
  });

  test("ends consistent whatever operators do meanwhile", async () => {
    const slug = "lab-lantern";
    const ids = await ground.query<{ id: string }>(
      "select s.id from subscriptions s join apps on apps.id = app_id where slug = $1",
      slug,
    );
    const commands = [
      ["pause", { reason: "ORG_REQUEST" }],
      ["pause", { reason: "SECURITY" }],
      ["resume"],
      ["cancel"],
    ] as const;
    const stopping = new AbortController();
    const inFlight = new Set<Promise<Response>>();
    const disturb = async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        const [command, body] = commands[randomInt(20) === 0 ? 3 : randomInt(3)] ?? assert.fail();
        const sent = change(ids[randomInt(ids.length)]?.id ?? "", command, body);
        inFlight.add(sent);
        const response = await sent.finally(() => inFlight.delete(sent));
        assert.ok(response.status === 200 || response.status === 409, await response.clone().text());
      }
    };
    const disturbing = Promise.all(Array.from({ length: 4 }, disturb));
    for (let round = 0; round < 3; round += 1) {
      await ground.operate(slug, "suspend", pausing);
      // Requests that were in progress may resume subscriptions; the last pass starts after they have ended.
      await Promise.all(inFlight);
      for (let steps = randomInt(1, 4); steps > 0; steps -= 1) await ground.step();
      if (round === 2) await ground.finish();
      else await ground.operate(slug, "reinstate");
      if (round === 1) await ground.finish();
    }
    stopping.abort();
    await disturbing;
    assert.equal((await countStates(slug))["active"], undefined);
    await ground.operate(slug, "reinstate");
    await ground.finish();
    assert.deepEqual(await ground.query("select from subscriptions where suspension_id is not null"), []);
    assert.equal(await ground.progress(slug), null);
    await eventually("everything is delivered", 60_000, async () => (await ground.deliver()).length === 0);
    await assertConsistent();
  });
});
