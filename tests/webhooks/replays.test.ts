import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { ReplayDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  type ApiProcess,
  type Asking,
  ask,
  assertProblem,
  type Callers,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  oneConnection,
  type PeopledMarketplace,
  type Receiver,
  registerPractices,
  startApiProcess,
  startCallers,
  startPeopledMarketplace,
  startReceiver,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support";

const hourMs = 3_600_000;
const ago = (hours: number): string => new Date(Date.now() - hours * hourMs).toISOString();
const lastDay = { from: ago(24), to: ago(-24) };
const registration = (url: string): object => ({
  url,
  secret: "a secret for replays",
  events: ["subscription.created", "subscription.paused", "subscription.resumed"],
});

describe("replays, asked for", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: PeopledMarketplace;
  before(async () => {
    marketplace = await startPeopledMarketplace(cleanUp, { VENDOR_ALLOWED_NETWORKS: "127.0.0.0/8" });
  });
  const endpoint = async (): Promise<string> => {
    const answer = await developer("", { body: registration("http://127.0.0.1:9/hook") });
    assert.equal(answer.status, 201, await answer.clone().text());
    return ((await answer.json()) as { id: string }).id;
  };
  const developer = (path: string, asking?: Asking): Promise<Response> =>
    marketplace.as("northwind-developer", `/developer/webhooks${path}`, asking);
  const started = async (id: string, body: object = lastDay): Promise<ReplayDto> => {
    const answer = await developer(`/${id}/replays`, { body });
    assert.equal(answer.status, 202, await answer.clone().text());
    return (await answer.json()) as ReplayDto;
  };
  const audited = (replayId: string): Promise<unknown[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => {
      const statement = `select action, actor_subject, actor_role, on_behalf_of, target_kind, before, after
        from audit_entries where target_id = $1 order by at, id`;
      return (await client.query(statement, [replayId])).rows;
    });

  test("are accepted with their record, which says where to ask for their progress, and are audited", async () => {
    const id = await endpoint();
    const answer = await developer(`/${id}/replays`, { body: lastDay });
    assert.equal(answer.status, 202);
    const replay = (await answer.json()) as ReplayDto;
    assert.deepEqual(replay, {
      id: replay.id,
      status: "running",
      failures: false,
      from: lastDay.from,
      // What becomes due later is none of its business.
      to: replay.createdAt,
      total: 0,
      done: 0,
      createdAt: replay.createdAt,
      updatedAt: replay.createdAt,
    });
    const location = answer.headers.get("location") ?? "";
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
    assert.equal((await audited(replay.id)).length, 2, "what changes nothing leaves no entry");
  });

  test("of failures need no range, and may have either end of one", async () => {
    for (const range of [{}, { from: ago(2) }, { to: ago(1) }, { from: ago(2), to: ago(1) }]) {
      const replay = await started(await endpoint(), { failures: true, ...range });
      assert.equal(replay.failures, true);
      assert.equal(replay.from, "from" in range ? range.from : null);
      assert.equal(replay.to, "to" in range ? range.to : replay.createdAt);
    }
  });

  test("come one at a time for each endpoint, also when many ask at once", async () => {
    const id = await endpoint();
    const asked = await Promise.all([0, 1, 2, 3].map(() => developer(`/${id}/replays`, { body: lastDay })));
    assert.deepEqual(
      asked.map(({ status }) => status).toSorted((a, b) => a - b),
      [202, 409, 409, 409],
    );
    const refused = asked.find(({ status }) => status === 409);
    const accepted = (await asked.find(({ status }) => status === 202)?.json()) as ReplayDto;
    assert.ok(refused !== undefined);
    const problem = await assertProblem(refused, 409, "replay-under-way");
    assert.match(String(problem["detail"]), new RegExp(accepted.id));
    await started(await endpoint());
    await developer(`/${id}/replays/${accepted.id}`, { method: "DELETE" });
    await started(id);
  });

  test("are started once per Idempotency-Key", async () => {
    const id = await endpoint();
    const headers = { "idempotency-key": "replay once" };
    const answers = [];
    for (let time = 0; time < 2; time += 1) answers.push(await developer(`/${id}/replays`, { body: lastDay, headers }));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [202, 202],
    );
    const [first, second] = await Promise.all(answers.map((answer) => answer.json()));
    assert.deepEqual(first, second);
  });

  for (const [what, body, pointer] of [
    ["nothing", {}, "/body/from"],
    ["only one end", { from: ago(1) }, "/body/to"],
    ["an end before its beginning", { from: ago(1), to: ago(2) }, "/body/to"],
    ["an empty span", { from: lastDay.from, to: lastDay.from }, "/body/to"],
    ["a text that is no time", { from: "yesterday", to: ago(0) }, "/body/from"],
    ["a leap second", { from: "2016-12-31T23:59:60Z", to: ago(0) }, "/body/from"],
    ["failures that aren't wanted", { failures: false, ...lastDay }, "/body/failures"],
    ["a field that nobody knows", { ...lastDay, speed: 9 }, "/body/speed"],
  ] as const) {
    test(`of ${what} are refused: 400`, async () => {
      const id = await endpoint();
      const problem = await assertProblem(await developer(`/${id}/replays`, { body }), 400, "invalid-request");
      const pointers = (problem["errors"] as { pointer: string }[]).map((each) => each.pointer);
      assert.ok(pointers.includes(pointer), pointers.join());
      await developer(`/${id}`, { method: "DELETE" });
    });
  }

  test("of nothing are told what is missing, and when it may be", async () => {
    const problem = await assertProblem(
      await developer(`/${await endpoint()}/replays`, { body: {} }),
      400,
      "invalid-request",
    );
    assert.equal(problem["detail"], "/body/from is required, unless failures is true.");
  });

  test("of another vendor's endpoint, or of another endpoint, are not there: 404", async () => {
    const [mine, other] = [await endpoint(), await endpoint()];
    const foreign = (path: string, asking?: Asking): Promise<Response> =>
      marketplace.as("lumen-developer", `/developer/webhooks/${path}`, asking);
    await assertProblem(await foreign(`${mine}/replays`, { body: lastDay }), 404, "endpoint-not-found");
    const { id } = await started(mine);
    await assertProblem(await foreign(`${mine}/replays/${id}`), 404, "endpoint-not-found");
    await assertProblem(await foreign(`${mine}/replays/${id}`, { method: "DELETE" }), 404, "endpoint-not-found");
    await assertProblem(await developer(`/${other}/replays/${id}`), 404, "replay-not-found");
    await assertProblem(await developer(`/${other}/replays/${id}`, { method: "DELETE" }), 404, "replay-not-found");
    const still = (await (await developer(`/${mine}/replays/${id}`)).json()) as ReplayDto;
    assert.equal(still.status, "running");
    const headers = { "x-vendor-slug": "northwind-health" };
    const operator = await marketplace.as("operator", `/developer/webhooks/${mine}/replays/${id}`, { headers });
    assert.equal(operator.status, 200);
  });
});

describe("replays, run by workers", () => {
  const cleanUp = cleanUpAfter();
  const practices = 40;
  const perPractice = 5;
  const total = practices * perPractice;
  let api: ApiProcess;
  let callers: Callers;
  let receiver: Receiver;
  let ownerUrl: string;
  let serviceUrl: string;
  let endpoint: string;
  let worker: ApiProcess;
  const environment = (): Record<string, string> => ({ ...callers.environment, ...oneConnection, LOG_LEVEL: "error" });

  const developer = async <T>(path: string, asking: Asking = {}): Promise<T> => {
    const answer = await ask(api.url, `/developer/webhooks${path}`, callers.token("northwind-developer"), asking);
    assert.ok(answer.ok, await answer.clone().text());
    return (await answer.json()) as T;
  };
  const attempts = (): Promise<{ status: string; attempts: number }[]> =>
    withClient(ownerUrl, async (client) => {
      const statement = "select status, attempts from deliveries where recipient_id = $1";
      return (await client.query<{ status: string; attempts: number }>(statement, [endpoint])).rows;
    });
  const settled = async (): Promise<boolean> => (await attempts()).every(({ status }) => status === "delivered");
  const progress = ({ id }: ReplayDto): Promise<ReplayDto> => developer(`/${endpoint}/replays/${id}`);

  before(async () => {
    callers = await startCallers(cleanUp);
    ({ ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "demo"));
    receiver = await startReceiver(cleanUp);
    const made = await registerPractices(ownerUrl, { count: practices, callbackUrl: receiver.url });
    api = await startApiProcess(cleanUp, serviceUrl, { environment: environment() });
    worker = await startWorkerProcess(cleanUp, serviceUrl, { environment: environment() });
    endpoint = (await developer<{ id: string }>("", { body: registration(`${receiver.url}/vendor`) })).id;
    const [plan] = (await (await ask(api.url, "/apps/northwind-scribe/pricing", undefined)).json()) as { id: string }[];
    const operate = async (path: string, body?: object): Promise<SubscriptionDto> => {
      const asking = { method: "POST", ...(body === undefined ? {} : { body }) };
      return (await (await ask(api.url, path, callers.token("operator"), asking)).json()) as SubscriptionDto;
    };
    for (const { alias } of made) {
      const wanted = { appSlug: "northwind-scribe", orgAlias: alias, pricingPlanId: plan?.id };
      const { id } = await operate("/subscriptions", wanted);
      for (let change = 1; change < perPractice; change += 1) {
        if (change % 2 === 1) await operate(`/subscriptions/${id}/pause`, { reason: "SECURITY" });
        else await operate(`/subscriptions/${id}/resume`);
      }
    }
    await eventually("everything has arrived", 30_000, async () => {
      const all = await attempts();
      return all.length === total && (await settled());
    });
  });

  test("kill -9 in the midst of one: it goes on behind its cursor, and each delivery is sent again, in order", async () => {
    receiver.received.length = 0;
    const replay = await developer<ReplayDto>(`/${endpoint}/replays`, { body: lastDay });
    assert.equal(replay.total, total);
    for (const reached of [1, total / 4, total / 2]) {
      await eventually(`${reached} are queued`, 60_000, async () => (await progress(replay)).done >= reached);
      worker.child.kill("SIGKILL");
      await worker.ended;
      worker = await startWorkerProcess(cleanUp, serviceUrl, { environment: environment() });
    }
    await eventually("it is done", 90_000, async () => (await progress(replay)).status === "done");
    assert.equal((await progress(replay)).done, total);
    // What a dead worker had in its hands comes back when its lease is over.
    await eventually("all of it is delivered", 60_000, settled);
    assert.deepEqual(
      (await attempts()).filter((each) => each.attempts < 2),
      [],
      "each was attempted again",
    );
    const lanes = Map.groupBy(
      receiver.received.filter(({ path }) => path === "/vendor"),
      ({ event }) => event.subscription.id,
    );
    assert.equal(lanes.size, practices);
    for (const [id, lane] of lanes) {
      const firsts = [...new Set(lane.map(({ event }) => event.timestamp))];
      assert.equal(firsts.length, perPractice, id);
      assert.deepEqual(firsts, firsts.toSorted(), `in order: ${id}`);
    }
    const again = receiver.received.find(({ path }) => path === "/vendor");
    assert.equal(again?.headers["x-marketplace-attempt"], "2", "the same delivery, a further attempt");
  });

  test("kill -9 in the midst of one that reaches back before its endpoint existed: each event arrives, in order", async () => {
    const late = (await developer<{ id: string }>("", { body: registration(`${receiver.url}/late`) })).id;
    const replay = await developer<ReplayDto>(`/${late}/replays`, { body: lastDay });
    assert.equal(replay.total, total);
    const done = async (): Promise<ReplayDto> => developer(`/${late}/replays/${replay.id}`);
    for (const reached of [1, total / 3]) {
      await eventually(`${reached} are queued`, 60_000, async () => (await done()).done >= reached);
      worker.child.kill("SIGKILL");
      await worker.ended;
      worker = await startWorkerProcess(cleanUp, serviceUrl, { environment: environment() });
    }
    await eventually("it is done", 90_000, async () => (await done()).status === "done");
    assert.equal((await done()).done, total);
    const told = (): Promise<{ status: string; sequence: number; is_the_event_s: boolean }[]> =>
      withClient(ownerUrl, async (client) => {
        const statement = `select d.status, d.sequence, d.created_at = e.occurred_at as is_the_event_s
          from deliveries d join events e on e.id = d.event_id where d.recipient_id = $1`;
        return (await client.query(statement, [late])).rows as Awaited<ReturnType<typeof told>>;
      });
    await eventually("all of it is delivered", 60_000, async () =>
      (await told()).every(({ status }) => status === "delivered"),
    );
    assert.equal((await told()).length, total, "one delivery for each event");
    assert.ok((await told()).every((each) => each.is_the_event_s));
    const lanes = Map.groupBy(
      receiver.received.filter(({ path }) => path === "/late"),
      ({ event }) => event.subscription.id,
    );
    assert.equal(lanes.size, practices);
    for (const [id, lane] of lanes) {
      const firsts = [...new Set(lane.map(({ event }) => event.timestamp))];
      assert.equal(firsts.length, perPractice, id);
      assert.deepEqual(firsts, firsts.toSorted(), `in order: ${id}`);
    }
    const answer = await ask(api.url, `/developer/webhooks/${late}`, callers.token("northwind-developer"), {
      method: "DELETE",
    });
    assert.equal(answer.status, 204);
  });

  test("what is new goes out at once, though all that is sent again hangs", async () => {
    const hanging: (() => void)[] = [];
    receiver.received.length = 0;
    receiver.answer = ({ headers }, response) => {
      const answer = (): unknown => response.writeHead(204).end();
      if (headers["x-marketplace-attempt"] === "1") answer();
      else hanging.push(answer);
    };
    const replay = await developer<ReplayDto>(`/${endpoint}/replays`, { body: lastDay });
    await eventually("some hang", 30_000, () => hanging.length >= 6);
    const { deliveryId } = await developer<{ deliveryId: string }>(`/${endpoint}/test`, { method: "POST" });
    const isNew = (): boolean =>
      receiver.received.some(({ headers }) => headers["x-marketplace-delivery-id"] === deliveryId);
    await eventually("the new one arrives", 9_000, isNew);
    assert.equal(hanging.length, 6, "of its eight places two are kept");
    await developer(`/${endpoint}/replays/${replay.id}`, { method: "DELETE" });
    receiver.answer = (_received, response) => response.writeHead(204).end();
    for (const answer of hanging) answer();
    await eventually("all of it is delivered", 60_000, settled);
  });

  test("one that is cancelled stops, and what it has queued is delivered", async () => {
    const attemptsBefore = (await attempts()).reduce((sum, each) => sum + each.attempts, 0);
    const replay = await developer<ReplayDto>(`/${endpoint}/replays`, { body: lastDay });
    await eventually("it has begun", 30_000, async () => (await progress(replay)).done > 0);
    const cancelled = await developer<ReplayDto>(`/${endpoint}/replays/${replay.id}`, { method: "DELETE" });
    assert.equal(cancelled.status, "cancelled");
    assert.ok(cancelled.done < total, `cancelled after ${cancelled.done}`);
    await eventually("what was queued is delivered", 60_000, settled);
    const next = await developer<ReplayDto>(`/${endpoint}/replays`, { body: { failures: true } });
    await eventually("workers take steps of others", 30_000, async () => (await progress(next)).status === "done");
    assert.deepEqual(await progress(replay), cancelled);
    const after = (await attempts()).reduce((sum, each) => sum + each.attempts, 0);
    assert.equal(after - attemptsBefore, cancelled.done);
  });
});
