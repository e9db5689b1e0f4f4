import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { type Callers, fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { type ServiceProcess, startApiProcess } from "@ehr-marketplace/tests/support/service-process";

const concurrentRequests = 200;

describe("200 concurrent identical creates on two processes", () => {
  const cleanUp = cleanUpAfter();
  let processes: ServiceProcess[];
  let callers: Callers;
  let databaseUrl: string;

  before(async () => {
    callers = await fetchCallers();
    databaseUrl = (await cloneDatabase(cleanUp, "demo")).serviceUrl;
    const environment = { ...callers.environment, ...patientLimits, LOG_LEVEL: "warn" };
    processes = await Promise.all([1, 2].map(() => startApiProcess(cleanUp, databaseUrl, { environment })));
  });

  const createConcurrently = async (appSlug: string, headers: Record<string, string>): Promise<Response[]> => {
    const [first] = processes;
    const [plan] = (await (await sendApiRequest(first?.url ?? "", `/apps/${appSlug}/pricing`, undefined)).json()) as {
      id: string;
    }[];
    const body = { appSlug, orgAlias: "riverside-clinic", pricingPlanId: plan?.id };
    const token = callers.token("riverside-admin");
    // On a busy machine some requests time out waiting for a connection and get 503: retry them.
    const create = async (url: string): Promise<Response> => {
      const response = await sendApiRequest(url, "/subscriptions", token, { body, headers });
      return response.status === 503 ? create(url) : response;
    };
    return Promise.all(
      Array.from({ length: concurrentRequests }, (_, index) => create(processes[index % 2]?.url ?? "")),
    );
  };

  const recorded = (appSlug: string) =>
    withClient(databaseUrl, async (client) => {
      const { rows } = await client.query<{ subscriptions: number; events: number; audits: number }>(
        `select count(*)::int as subscriptions,
           (select count(*)::int from events where subscription_id is not null and payload::json #>> '{app,slug}' = $1) as events,
           (select count(*)::int from audit_entries where after ->> 'appSlug' = $1) as audits
         from subscriptions join apps on apps.id = app_id where slug = $1`,
        [appSlug],
      );
      return rows[0];
    });

  test("create one subscription and return 409 to all others", async () => {
    const responses = await createConcurrently("northwind-scribe", {});
    const count = (status: number): number => responses.filter((response) => response.status === status).length;
    assert.deepEqual({ created: count(201), refused: count(409) }, { created: 1, refused: concurrentRequests - 1 });
    assert.deepEqual(await recorded("northwind-scribe"), { subscriptions: 1, events: 1, audits: 1 });
  });

  test("with one idempotency key, create one subscription and return the same response to all", async () => {
    const { content } = (await (await sendApiRequest(processes[0]?.url ?? "", "/apps?size=2", undefined)).json()) as {
      content: { slug: string }[];
    };
    const slug = content.map((app) => app.slug).find((each) => each !== "northwind-scribe") ?? "";
    const responses = await createConcurrently(slug, { "idempotency-key": "once-and-for-all" });
    assert.deepEqual(new Set(responses.map((response) => response.status)), new Set([201]));
    const bodies = new Set(await Promise.all(responses.map((response) => response.text())));
    assert.equal(bodies.size, 1);
    const locations = new Set(responses.map((response) => response.headers.get("location")));
    const [body = "{}"] = bodies;
    assert.deepEqual(locations, new Set([`/api/v1/subscriptions/${(JSON.parse(body) as SubscriptionDto).id}`]));
    assert.deepEqual(await recorded(slug), { subscriptions: 1, events: 1, audits: 1 });
  });
});
