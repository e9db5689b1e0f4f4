import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  type ApiProcess,
  ask,
  type Callers,
  cleanUpAfter,
  cloneDatabase,
  startApiProcess,
  startCallers,
} from "@ehr-marketplace/tests/support";

const atOnce = 200;

describe("200 identical creates at once, over two processes", () => {
  const cleanUp = cleanUpAfter();
  let processes: ApiProcess[];
  let callers: Callers;
  let databaseUrl: string;

  before(async () => {
    callers = await startCallers(cleanUp);
    databaseUrl = (await cloneDatabase(cleanUp, "demo")).serviceUrl;
    const environment = { ...callers.environment, LOG_LEVEL: "warn" };
    processes = await Promise.all([1, 2].map(() => startApiProcess(cleanUp, databaseUrl, { environment })));
  });

  const createAtOnce = async (appSlug: string, headers: Record<string, string>): Promise<Response[]> => {
    const [first] = processes;
    const [plan] = (await (await ask(first?.url ?? "", `/apps/${appSlug}/pricing`, undefined)).json()) as {
      id: string;
    }[];
    const body = { appSlug, orgAlias: "riverside-clinic", pricingPlanId: plan?.id };
    const token = callers.token("riverside-admin");
    // On a busy machine some wait for a connection for too long, and are told to ask again.
    const create = async (url: string): Promise<Response> => {
      const answer = await ask(url, "/subscriptions", token, { body, headers });
      return answer.status === 503 ? create(url) : answer;
    };
    return Promise.all(Array.from({ length: atOnce }, (_, index) => create(processes[index % 2]?.url ?? "")));
  };

  const recorded = (appSlug: string) =>
    withClient(databaseUrl, async (client) => {
      const { rows } = await client.query<{ subscriptions: number; events: number; audits: number }>(
        `select count(*)::int as subscriptions,
           (select count(*)::int from events where payload::json #>> '{app,slug}' = $1) as events,
           (select count(*)::int from audit_entries where after ->> 'appSlug' = $1) as audits
         from subscriptions join apps on apps.id = app_id where slug = $1`,
        [appSlug],
      );
      return rows[0];
    });

  test("one is created, and all the others are told so", async () => {
    const answers = await createAtOnce("northwind-scribe", {});
    const count = (status: number): number => answers.filter((answer) => answer.status === status).length;
    assert.deepEqual({ created: count(201), refused: count(409) }, { created: 1, refused: atOnce - 1 });
    assert.deepEqual(await recorded("northwind-scribe"), { subscriptions: 1, events: 1, audits: 1 });
  });

  test("with one idempotency key, all get the same answer, and there is one subscription", async () => {
    const { content } = (await (await ask(processes[0]?.url ?? "", "/apps?size=2", undefined)).json()) as {
      content: { slug: string }[];
    };
    const slug = content.map((app) => app.slug).find((each) => each !== "northwind-scribe") ?? "";
    const answers = await createAtOnce(slug, { "idempotency-key": "once-and-for-all" });
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([201]));
    const bodies = new Set(await Promise.all(answers.map((answer) => answer.text())));
    assert.equal(bodies.size, 1);
    const locations = new Set(answers.map((answer) => answer.headers.get("location")));
    const [body = "{}"] = bodies;
    assert.deepEqual(locations, new Set([`/api/v1/subscriptions/${(JSON.parse(body) as SubscriptionDto).id}`]));
    assert.deepEqual(await recorded(slug), { subscriptions: 1, events: 1, audits: 1 });
  });
});
