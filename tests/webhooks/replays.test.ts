import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { ReplayDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type Callers,
  fetchCallers,
  type RequestOptions,
  sendApiRequest,
} from "@ehr-marketplace/tests/support/callers";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { type Receiver, startReceiver } from "@ehr-marketplace/tests/support/receiver";
import {
  type ServiceProcess,
  startApiProcess,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support/service-process";
import { singleConnectionPool } from "@ehr-marketplace/tests/support/single-connection-pool";

const hourMs = 3_600_000;
const ago = (hours: number): string => new Date(Date.now() - hours * hourMs).toISOString();
const lastDay = { from: ago(24), to: ago(-24) };
const registration = (url: string): object => ({
  url,
  secret: "a secret for replays",
  events: ["subscription.created", "subscription.paused", "subscription.resumed"],
});

describe("requests for replays", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp, { VENDOR_ALLOWED_NETWORKS: "127.0.0.0/8" });
  });
  const endpoint = async (): Promise<string> => {
    const response = await developer("", { body: registration("http://127.0.0.1:9/hook") });
    assert.equal(response.status, 201, await response.clone().text());
    return ((await response.json()) as { id: string }).id;
  };
  const developer = (path: string, options?: RequestOptions): Promise<Response> =>
    marketplace.requestAs("northwind-developer", `/developer/webhooks${path}`, options);
  const started = async (id: string, body: object = lastDay): Promise<ReplayDto> => {
    const response = await developer(`/${id}/replays`, { body });
    assert.equal(response.status, 202, await response.clone().text());
    return (await response.json()) as ReplayDto;
  };
  const audited = (replayId: string): Promise<unknown[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => {
      const statement = `select action, actor_subject, actor_role, on_behalf_of, target_kind, before, after
        from audit_entries where target_id = $1 order by at, id`;
      return (await client.query(statement, [replayId])).rows;
    });

  test("return 202 with the replay's record and location, and are audited", async () => {
    const id = await endpoint();
    const response = await developer(`/${id}/replays`, { body: lastDay });
    assert.equal(response.status, 202);
    const replay = (await response.json()) as ReplayDto;
    assert.deepEqual(replay, {
      id: replay.id,
      status: "running",
      failures: false,
      from: lastDay.from,
      // A replay doesn't include deliveries that become due after its start.
      to: replay.createdAt,
      total: 0,
      done: 0,
      createdAt: replay.createdAt,
      updatedAt: replay.createdAt,
    });
    const location = response.headers.get("location") ?? "";
    assert.equal(location, `/api/v1/developer/webhooks/${id}/replays/${replay.id}`);
    const progress = await developer(`/${id}/replays/${replay.id}`);
    assert.deepEqual([progress.status, await progress.json()], [200, replay]);
    const entry = { actor_subject: "northwind-developer", actor_role: "vendor-developer" };
    const of = { ...entry, on_behalf_of: "vendor:northwind-health", target_kind: "webhook-replay" };
    const start = { action: "webhook-replay.start", ...of, before: null, after: replay };
    assert.deepEqual(await audited(replay.id), [start]);
    const cancelled = (await (
      await developer(`/${id}/replays/${replay.id}`, { method: "DELETE" })
    ).json()) as ReplayDto;
    assert.deepEqual(cancelled, { ...replay, status: "cancelled", updatedAt: cancelled.updatedAt });
    const cancel = { action: "webhook-replay.cancel", ...of, before: replay, after: cancelled };
    assert.deepEqual(await audited(replay.id), [start, cancel]);
    const again = await developer(`/${id}/replays/${replay.id}`, { method: "DELETE" });
    assert.deepEqual([again.status, await again.json()], [200, cancelled]);
    assert.equal((await audited(replay.id)).length, 2, "a request without effect leaves no entry");
  });

  test("for failures need no range and may have one end or both", async () => {
    for (const range of [{}, { from: ago(2) }, { to: ago(1) }, { from: ago(2), to: ago(1) }]) {
      const replay = await started(await endpoint(), { failures: true, ...range });
      assert.equal(replay.failures, true);
      assert.equal(replay.from, "from" in range ? range.from : null);
      assert.equal(replay.to, "to" in range ? range.to : replay.createdAt);
    }
  });

  test("start one replay at a time per endpoint, also when sent concurrently", async () => {
    const id = await endpoint();
    const concurrent = await Promise.all([0, 1, 2, 3].map(() => developer(`/${id}/replays`, { body: lastDay })));
    assert.deepEqual(
      concurrent.map(({ status }) => status).toSorted((a, b) => a - b),
      [202, 409, 409, 409],
    );
    const refused = concurrent.find(({ status }) => status === 409);
    const accepted = (await concurrent.find(({ status }) => status === 202)?.json()) as ReplayDto;
    assert.ok(refused !== undefined);
    const problem = await assertProblem(refused, 409, "replay-under-way");
    assert.match(String(problem["detail"]), new RegExp(accepted.id));
    await started(await endpoint());
    await developer(`/${id}/replays/${accepted.id}`, { method: "DELETE" });
    await started(id);
  });

  test("start one replay per Idempotency-Key", async () => {
    const id = await endpoint();
    const headers = { "idempotency-key": "replay once" };
    const responses = [];
    for (let time = 0; time < 2; time += 1)
      responses.push(await developer(`/${id}/replays`, { body: lastDay, headers }));
    assert.deepEqual(
      responses.map(({ status }) => status),
      [202, 202],
    );
    const [first, second] = await Promise.all(responses.map((response) => response.json()));
    assert.deepEqual(first, second);
  });

  for (const [what, body, pointer] of [
    ["an empty body", {}, "/body/from"],
    ["one end only", { from: ago(1) }, "/body/to"],
    ["an end before its beginning", { from: ago(1), to: ago(2) }, "/body/to"],
    ["an empty range", { from: lastDay.from, to: lastDay.from }, "/body/to"],
    ["an invalid time", { from: "yesterday", to: ago(0) }, "/body/from"],
    ["a leap second", { from: "2016-12-31T23:59:60Z", to: ago(0) }, "/body/from"],
    ["failures: false", { failures: false, ...lastDay }, "/body/failures"],
    ["an unknown field", { ...lastDay, speed: 9 }, "/body/speed"],
  ] as const) {
    test(`with ${what} return 400`, async () => {
      const id = await endpoint();
      const problem = await assertProblem(await developer(`/${id}/replays`, { body }), 400, "invalid-request");
      const pointers = (problem["errors"] as { pointer: string }[]).map((each) => each.pointer);
      assert.ok(pointers.includes(pointer), pointers.join());
      await developer(`/${id}`, { method: "DELETE" });
    });
  }

  test("with an empty body return the missing field and when it is optional", async () => {
    const problem = await assertProblem(
      await developer(`/${await endpoint()}/replays`, { body: {} }),
      400,
      "invalid-request",
    );
    assert.equal(problem["detail"], "/body/from is required, unless failures is true.");
  });

  test("for another vendor's endpoint, or a replay of another endpoint, return 404", async () => {
    const [mine, other] = [await endpoint(), await endpoint()];
    const foreign = (path: string, options?: RequestOptions): Promise<Response> =>
      marketplace.requestAs("lumen-developer", `/developer/webhooks/${path}`, options);
    await assertProblem(await foreign(`${mine}/replays`, { body: lastDay }), 404, "endpoint-not-found");
    const { id } = await started(mine);
    await assertProblem(await foreign(`${mine}/replays/${id}`), 404, "endpoint-not-found");
    await assertProblem(await foreign(`${mine}/replays/${id}`, { method: "DELETE" }), 404, "endpoint-not-found");
    await assertProblem(await developer(`/${other}/replays/${id}`), 404, "replay-not-found");
    await assertProblem(await developer(`/${other}/replays/${id}`, { method: "DELETE" }), 404, "replay-not-found");
    const still = (await (await developer(`/${mine}/replays/${id}`)).json()) as ReplayDto;
    assert.equal(still.status, "running");
    const headers = { "x-vendor-slug": "northwind-health" };
    const operator = await marketplace.requestAs("operator", `/developer/webhooks/${mine}/replays/${id}`, { headers });
    assert.equal(operator.status, 200);
  });
});

describe("replays run by workers", () => {
  const cleanUp = cleanUpAfter();
  const practices = 40;
  const perPractice = 5;
  const total = practices * perPractice;
  let api: ServiceProcess;
  let callers: Callers;
  let receiver: Receiver;
  let ownerUrl: string;
  let serviceUrl: string;
  let endpoint: string;
  let worker: ServiceProcess;
  const environment = (): Record<string, string> => ({
    ...callers.environment,
    ...singleConnectionPool,
    LOG_LEVEL: "error",
  });

  const developer = async <T>(path: string, options: RequestOptions = {}): Promise<T> => {
    const response = await sendApiRequest(
      api.url,
      `/developer/webhooks${path}`,
      callers.token("northwind-developer"),
      options,
    );
    assert.ok(response.ok, await response.clone().text());
    return (await response.json()) as T;
  };
  const attempts = (): Promise<{ status: string; attempts: number }[]> =>
    withClient(ownerUrl, async (client) => {
      const statement = "select status, attempts from deliveries where recipient_id = $1";
      return (await client.query<{ status: string; attempts: number }>(statement, [endpoint])).rows;
    });
  const settled = async (): Promise<boolean> => (await attempts()).every(({ status }) => status === "delivered");
  const progress = ({ id }: ReplayDto): Promise<ReplayDto> => developer(`/${endpoint}/replays/${id}`);

  before(async () => {
    callers = await fetchCallers();
    ({ ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "demo"));
    receiver = await startReceiver(cleanUp);
    const registered = await registerPractices(ownerUrl, { count: practices, callbackUrl: receiver.url });
    api = await startApiProcess(cleanUp, serviceUrl, { environment: environment() });
    worker = await startWorkerProcess(cleanUp, serviceUrl, { environment: environment() });
    endpoint = (await developer<{ id: string }>("", { body: registration(`${receiver.url}/vendor`) })).id;
    const [plan] = (await (await sendApiRequest(api.url, "/apps/northwind-scribe/pricing", undefined)).json()) as {
      id: string;
    }[];
    const operate = async (path: string, body?: object): Promise<SubscriptionDto> => {
      const options = { method: "POST", ...(body === undefined ? {} : { body }) };
      return (await (
        await sendApiRequest(api.url, path, callers.token("operator"), options)
      ).json()) as SubscriptionDto;
    };
    for (const { alias } of registered) {
      const body = { appSlug: "northwind-scribe", orgAlias: alias, pricingPlanId: plan?.id };
      const { id } = await operate("/subscriptions", body);
      for (let change = 1; change < perPractice; change += 1) {
        if (change % 2 === 1) await operate(`/subscriptions/${id}/pause`, { reason: "SECURITY" });
        else await operate(`/subscriptions/${id}/resume`);
      }
    }
    await eventually("all events have arrived", 30_000, async () => {
      const all = await attempts();
      return all.length === total && (await settled());
    });
  });

  test("after kill -9 a replay resumes at its cursor, and each delivery is sent again in order", async () => {
    receiver.received.length = 0;
    const replay = await developer<ReplayDto>(`/${endpoint}/replays`, { body: lastDay });
    assert.equal(replay.total, total);
    for (const reached of [1, total / 4, total / 2]) {
      await eventually(`${reached} are queued`, 60_000, async () => (await progress(replay)).done >= reached);
      worker.child.kill("SIGKILL");
      await worker.exited;
      worker = await startWorkerProcess(cleanUp, serviceUrl, { environment: environment() });
    }
    await eventually("the replay is done", 90_000, async () => (await progress(replay)).status === "done");
    assert.equal((await progress(replay)).done, total);
    // Deliveries of a killed worker are retried when their leases expire.
    await eventually("all deliveries are delivered", 60_000, settled);
    assert.deepEqual(
      (await attempts()).filter((each) => each.attempts < 2),
      [],
      "each was attempted again",
    );
    const bySubscription = Map.groupBy(
      receiver.received.filter(({ path }) => path === "/vendor"),
      ({ event }) => event.subscription.id,
    );
    assert.equal(bySubscription.size, practices);
    for (const [id, events] of bySubscription) {
      const firsts = [...new Set(events.map(({ event }) => event.timestamp))];
      assert.equal(firsts.length, perPractice, id);
      assert.deepEqual(firsts, firsts.toSorted(), `in order: ${id}`);
    }
    // A claim counts as an attempt, so that a delivery which a killed worker had claimed has more.
    const numbers = [...bySubscription.values()].flat().map(({ headers }) => Number(headers["x-marketplace-attempt"]));
    assert.equal(Math.min(...numbers), 2, "a replay is a further attempt of the same delivery");
  });

  test("after kill -9 a replay of events from before its endpoint existed delivers each event in order", async () => {
    const late = (await developer<{ id: string }>("", { body: registration(`${receiver.url}/late`) })).id;
    const replay = await developer<ReplayDto>(`/${late}/replays`, { body: lastDay });
    assert.equal(replay.total, total);
    const lateProgress = async (): Promise<ReplayDto> => developer(`/${late}/replays/${replay.id}`);
    for (const reached of [1, total / 3]) {
      await eventually(`${reached} are queued`, 60_000, async () => (await lateProgress()).done >= reached);
      worker.child.kill("SIGKILL");
      await worker.exited;
      worker = await startWorkerProcess(cleanUp, serviceUrl, { environment: environment() });
    }
    await eventually("the replay is done", 90_000, async () => (await lateProgress()).status === "done");
    assert.equal((await lateProgress()).done, total);
    const lateDeliveries = (): Promise<{ status: string; sequence: number; has_event_time: boolean }[]> =>
      withClient(ownerUrl, async (client) => {
        const statement = `select d.status, d.sequence, d.created_at = e.occurred_at as has_event_time
          from deliveries d join events e on e.id = d.event_id where d.recipient_id = $1`;
        return (await client.query(statement, [late])).rows as Awaited<ReturnType<typeof lateDeliveries>>;
      });
    await eventually("all deliveries are delivered", 60_000, async () =>
      (await lateDeliveries()).every(({ status }) => status === "delivered"),
    );
    assert.equal((await lateDeliveries()).length, total, "one delivery for each event");
    assert.ok((await lateDeliveries()).every((each) => each.has_event_time));
    const bySubscription = Map.groupBy(
      receiver.received.filter(({ path }) => path === "/late"),
      ({ event }) => event.subscription.id,
    );
    assert.equal(bySubscription.size, practices);
    for (const [id, events] of bySubscription) {
      const firsts = [...new Set(events.map(({ event }) => event.timestamp))];
      assert.equal(firsts.length, perPractice, id);
      assert.deepEqual(firsts, firsts.toSorted(), `in order: ${id}`);
    }
    const response = await sendApiRequest(
      api.url,
      `/developer/webhooks/${late}`,
      callers.token("northwind-developer"),
      {
        method: "DELETE",
      },
    );
    assert.equal(response.status, 204);
  });

  test("a vendor with a late endpoint catches up by the list of its subscriptions and a replay; another vendor gets none", async () => {
    const as = async <T>(who: "northwind-developer" | "lumen-developer", path: string, body?: object): Promise<T> => {
      const options = body === undefined ? {} : { body };
      const response = await sendApiRequest(api.url, `/developer${path}`, callers.token(who), options);
      assert.ok(response.ok, await response.clone().text());
      return (await response.json()) as T;
    };
    const caughtUp = async (who: "northwind-developer" | "lumen-developer", path: string): Promise<Set<string>> => {
      const given = { ...registration(`${receiver.url}${path}`), events: ["subscription.created"] };
      const { id } = await as<{ id: string }>(who, "/webhooks", given);
      const since = { from: "2020-01-01T00:00:00Z", to: ago(0) };
      const replay = await as<ReplayDto>(who, `/webhooks/${id}/replays`, since);
      const heard = (): string[] =>
        receiver.received.filter((each) => each.path === path).map(({ event }) => event.subscription.id);
      await eventually("the replay is done and delivered", 60_000, async () => {
        const { status } = await as<ReplayDto>(who, `/webhooks/${id}/replays/${replay.id}`);
        return status === "done" && new Set(heard()).size >= replay.total;
      });
      return new Set(heard());
    };
    type Listed = { items: SubscriptionDto[]; next: string | null };
    const { items, next } = await as<Listed>("northwind-developer", "/subscriptions?status=active&limit=1000");
    assert.deepEqual([items.length, next], [practices, null]);
    assert.deepEqual(await caughtUp("northwind-developer", "/caught-up"), new Set(items.map(({ id }) => id)));
    assert.deepEqual(await as<Listed>("lumen-developer", "/subscriptions"), { items: [], next: null });
    assert.deepEqual(await caughtUp("lumen-developer", "/elsewhere"), new Set());
  });

  test("new deliveries are sent at once while replayed deliveries hang", async () => {
    const hanging: (() => void)[] = [];
    receiver.received.length = 0;
    receiver.respond = ({ headers }, response) => {
      const respond = (): unknown => response.writeHead(204).end();
      if (headers["x-marketplace-attempt"] === "1") respond();
      else hanging.push(respond);
    };
    const replay = await developer<ReplayDto>(`/${endpoint}/replays`, { body: lastDay });
    await eventually("replayed deliveries hang", 30_000, () => hanging.length >= 6);
    const { deliveryId } = await developer<{ deliveryId: string }>(`/${endpoint}/test`, { method: "POST" });
    const hasArrived = (): boolean =>
      receiver.received.some(({ headers }) => headers["x-marketplace-delivery-id"] === deliveryId);
    await eventually("the new delivery arrives", 9_000, hasArrived);
    assert.equal(hanging.length, 6, "two of the endpoint's eight slots are reserved for new deliveries");
    await developer(`/${endpoint}/replays/${replay.id}`, { method: "DELETE" });
    receiver.respond = (_received, response) => response.writeHead(204).end();
    for (const respond of hanging) respond();
    await eventually("all deliveries are delivered", 60_000, settled);
  });

  test("a cancelled replay stops, and its queued deliveries are delivered", async () => {
    const attemptsBefore = (await attempts()).reduce((sum, each) => sum + each.attempts, 0);
    const replay = await developer<ReplayDto>(`/${endpoint}/replays`, { body: lastDay });
    await eventually("the replay has begun", 30_000, async () => (await progress(replay)).done > 0);
    const cancelled = await developer<ReplayDto>(`/${endpoint}/replays/${replay.id}`, { method: "DELETE" });
    assert.equal(cancelled.status, "cancelled");
    assert.ok(cancelled.done < total, `cancelled after ${cancelled.done}`);
    await eventually("queued deliveries are delivered", 60_000, settled);
    const next = await developer<ReplayDto>(`/${endpoint}/replays`, { body: { failures: true } });
    await eventually("workers process another replay", 30_000, async () => (await progress(next)).status === "done");
    assert.deepEqual(await progress(replay), cancelled);
    const after = (await attempts()).reduce((sum, each) => sum + each.attempts, 0);
    assert.equal(after - attemptsBefore, cancelled.done);
  });
});
