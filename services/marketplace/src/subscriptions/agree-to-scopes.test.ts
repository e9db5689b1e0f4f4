import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto, AuditPage, ListedSubscriptionDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { subscribe, subscribed } from "./subscribe.test-support.ts";

type Persona = Parameters<MarketplaceWithCallers["requestAs"]>[0];

const agreed = "launch openid patient/Observation.rs";
const added = "patient/Condition.rs";
const current = `${agreed} ${added}`;

describe("agreeing to the scopes of an app", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let apps: string[];
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    const page = (await (await marketplace.get("/apps?size=100")).json()) as { content: AppDto[] };
    apps = page.content.map(({ slug }) => slug);
  });
  const rows = async <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  /** As the approval of a revision will. */
  const publish = (slug: string, scopes: string): Promise<unknown> =>
    rows("update apps set fhir_scopes = $2 where slug = $1", slug, scopes);
  const nextApp = async (scopes = agreed): Promise<string> => {
    const slug = String(apps.pop());
    await publish(slug, scopes);
    return slug;
  };
  /** A subscription to an app that has added a scope since. */
  const pending = async (): Promise<SubscriptionDto> => {
    const slug = await nextApp();
    const created = await subscribed(marketplace, slug);
    await publish(slug, current);
    return created;
  };
  const consent = (id: string, fhirScopes: string, by: Persona = "riverside-admin", key?: string): Promise<Response> =>
    marketplace.requestAs(by, `/subscriptions/${id}/consent`, {
      body: { fhirScopes },
      ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
    });
  const consented = async (id: string, fhirScopes = current): Promise<SubscriptionDto> => {
    const response = await consent(id, fhirScopes);
    assert.equal(response.status, 200, await response.clone().text());
    const record = (await response.json()) as SubscriptionDto;
    assertShape("SubscriptionDto", record);
    return record;
  };
  const read = async (id: string): Promise<SubscriptionDto> =>
    (await (await marketplace.requestAs("riverside-member", `/subscriptions/${id}`)).json()) as SubscriptionDto;
  const scopesOf = ({ fhirScopes, pendingScopes }: SubscriptionDto): string[] => [fhirScopes, pendingScopes];
  const eventsOf = (id: string): Promise<{ event: string; sequence: number; payload: string }[]> =>
    rows("select event, sequence, payload from events where subscription_id = $1 order by sequence", id);
  const agreementsOf = (id: string): Promise<Record<string, unknown>[]> =>
    rows("select * from scope_agreements where subscription_id = $1 order by revision", id);

  test("subscribing agrees to the app's scopes, recorded with person and time", async () => {
    const created = await subscribed(marketplace, await nextApp());
    assert.deepEqual(scopesOf(created), [agreed, ""]);
    assert.deepEqual(await agreementsOf(created.id), [
      {
        subscription_id: created.id,
        revision: 1,
        fhir_scopes: agreed,
        issuer: marketplace.callers.identityProvider.issuer,
        subject: "riverside-admin",
        role: "org-admin",
        agreed_at: new Date(created.createdAt),
      },
    ]);
  });

  test("a scope that the app adds is pending until an admin agrees; then EHR and vendor are told", async () => {
    const created = await pending();
    const { id, appSlug, orgAlias } = created;
    assert.deepEqual(scopesOf(await read(id)), [agreed, added]);
    const list = async (): Promise<ListedSubscriptionDto | undefined> => {
      const path = `/subscriptions?orgAlias=${orgAlias}&expand=app`;
      const found = (await (await marketplace.requestAs("ehr-service", path)).json()) as ListedSubscriptionDto[];
      return found.find((each) => each.id === id);
    };
    const listed = await list();
    assert.deepEqual([listed?.fhirScopes, listed?.pendingScopes, listed?.app?.fhirScopes], [agreed, added, agreed]);

    const changed = await consented(id);
    assert.deepEqual(changed, { ...created, fhirScopes: current, updatedAt: changed.updatedAt });
    assert.ok(changed.updatedAt > created.updatedAt);
    assert.deepEqual(await read(id), changed);
    assert.equal((await list())?.app?.fhirScopes, current);

    const events = await eventsOf(id);
    assert.deepEqual(
      events.map(({ event, sequence }) => [event, sequence]),
      [
        ["subscription.created", 1],
        ["subscription.updated", 2],
      ],
    );
    const payload = JSON.parse(events[1]?.payload ?? "") as { app: AppDto };
    assertShape("SubscriptionEvent", payload);
    assert.deepEqual(payload, {
      event: "subscription.updated",
      app: { ...payload.app, slug: appSlug, fhirScopes: current },
      subscription: { id, status: "active", orgAlias },
      timestamp: changed.updatedAt,
    });
    assert.deepEqual(
      await rows(
        `select recipients.kind from deliveries join recipients on recipients.id = recipient_id
         where subscription_id = $1 and sequence = 2`,
        id,
      ),
      [{ kind: "ehr" }],
    );
    assert.deepEqual(
      (await agreementsOf(id)).map(({ revision, fhir_scopes, subject }) => [revision, fhir_scopes, subject]),
      [
        [1, agreed, "riverside-admin"],
        [2, current, "riverside-admin"],
      ],
    );
    const audit = await marketplace.requestAs(
      "operator",
      `/organisations/${orgAlias}/audit?action=subscription.consent&limit=100`,
    );
    const entry = ((await audit.json()) as AuditPage).items.find(({ target }) => target.id === id);
    assert.equal(entry?.actor.role, "org-admin");
    assert.deepEqual(scopesOf(entry.before as SubscriptionDto), [agreed, added]);
    assert.deepEqual(scopesOf(entry.after as SubscriptionDto), [current, ""]);
  });

  test("every later event carries the agreed scopes", async () => {
    const { id } = await pending();
    const act = (what: string, body?: object): Promise<Response> =>
      marketplace.requestAs("riverside-admin", `/subscriptions/${id}/${what}`, { method: "POST", body });
    assert.equal((await act("pause", { reason: "ORG_REQUEST" })).status, 200);
    const { status, pauseReason } = await consented(id);
    assert.deepEqual([status, pauseReason], ["paused", "ORG_REQUEST"]);
    assert.equal((await act("cancel")).status, 200);
    const payloads = (await eventsOf(id)).map(
      ({ payload }) => JSON.parse(payload) as { event: string; subscription: object; app: AppDto },
    );
    assert.deepEqual(
      payloads.map(({ event, app }) => [event, app.fhirScopes]),
      [
        ["subscription.created", agreed],
        ["subscription.paused", agreed],
        ["subscription.updated", current],
        ["subscription.cancelled", current],
      ],
    );
    assert.deepEqual(payloads[2]?.subscription, { id, status: "paused", orgAlias: "riverside-clinic" });
  });

  test("scopes are compared by meaning: order, repetition and syntax don't matter", async () => {
    const { id, appSlug } = await pending();
    await publish(appSlug, "openid launch patient/Observation.read patient/Condition.read launch");
    assert.deepEqual(scopesOf(await read(id)), ["openid launch patient/Observation.read", "patient/Condition.read"]);
    const { fhirScopes, pendingScopes } = await consented(
      id,
      "patient/Condition.rs patient/Observation.s launch openid patient/Observation.r",
    );
    assert.deepEqual([pendingScopes, fhirScopes.includes("patient/Condition.read")], ["", true]);
  });

  test("agreeing again changes nothing and creates no event", async () => {
    const { id } = await pending();
    const changed = await consented(id);
    assert.deepEqual(await consented(id), changed);
    assert.equal((await eventsOf(id)).length, 2);
    assert.equal((await agreementsOf(id)).length, 2);
  });

  test("returns 409 for other scopes than the app's current ones, and changes nothing", async () => {
    const { id } = await pending();
    for (const scopes of [
      agreed,
      added,
      "",
      `${current} patient/Device.rs`,
      current.replace("Condition.rs", "Condition.r"),
    ]) {
      const problem = await assertProblem(await consent(id, scopes), 409, "scopes-changed");
      assert.deepEqual(problem["errors"], [
        { pointer: "/body/fhirScopes", detail: "are not the app's current scopes" },
      ]);
    }
    assert.deepEqual(scopesOf(await read(id)), [agreed, added]);
    assert.equal((await eventsOf(id)).length, 1);
  });

  test("a scope that the app removes ends at once, without an event; removed and added again, it is still agreed to", async () => {
    const slug = await nextApp(current);
    const { id } = await subscribed(marketplace, slug);
    await publish(slug, agreed);
    assert.deepEqual(scopesOf(await read(id)), [agreed, ""]);
    assert.deepEqual(scopesOf(await consented(id, agreed)), [agreed, ""]);
    await publish(slug, current);
    assert.deepEqual(scopesOf(await read(id)), [current, ""]);
    assert.equal((await eventsOf(id)).length, 1);
  });

  test("a cancelled subscription has nothing to agree to", async () => {
    const { id } = await pending();
    const cancelled = await marketplace.requestAs("riverside-admin", `/subscriptions/${id}/cancel`, { method: "POST" });
    assert.deepEqual(scopesOf((await cancelled.json()) as SubscriptionDto), [agreed, ""]);
    await assertProblem(await consent(id, current), 409, "subscription-cancelled");
    assert.equal((await agreementsOf(id)).length, 1);
  });

  test("an operator agrees for an organisation, recorded with person and role", async () => {
    const { id } = await pending();
    const response = await consent(id, current, "operator");
    assert.equal(response.status, 200, await response.clone().text());
    assert.deepEqual(scopesOf((await response.json()) as SubscriptionDto), [current, ""]);
    const agreements = await agreementsOf(id);
    assert.deepEqual(
      agreements.map(({ subject, role, fhir_scopes }) => [subject, role, fhir_scopes]),
      [
        ["riverside-admin", "org-admin", agreed],
        ["operator", "operator", current],
      ],
    );
    const audit = await marketplace.requestAs("riverside-admin", "/organisations/riverside-clinic/audit");
    const [entry] = ((await audit.json()) as AuditPage).items;
    assert.deepEqual(
      [entry?.action, entry?.target.id, entry?.actor.subject, entry?.actor.role],
      ["subscription.consent", id, "operator", "operator"],
    );
  });

  test("nobody else but an admin of the organisation agrees; for others it doesn't exist", async () => {
    const { id } = await pending();
    for (const who of ["billing", "riverside-member", "northwind-developer", "ehr-service"] as const) {
      await assertProblem(await consent(id, current, who), 403, "forbidden");
    }
    await assertProblem(await consent(id, current, "hilltop-admin"), 404, "subscription-not-found");
    assert.deepEqual(scopesOf(await read(id)), [agreed, added]);
  });

  test("of two admins who agree at the same time, one causes the event", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await pending();
      const [one, other] = await Promise.all([consented(id), consented(id)]);
      assert.deepEqual(one, other);
      assert.equal((await eventsOf(id)).length, 2);
      assert.equal((await agreementsOf(id)).length, 2);
    }
  });

  test("agreeing while another admin cancels either precedes the cancellation or is refused", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await pending();
      const cancel = (): Promise<Response> =>
        marketplace.requestAs("riverside-admin", `/subscriptions/${id}/cancel`, { method: "POST" });
      const [agreement, cancellation] = await Promise.all(
        round % 2 === 0 ? [consent(id, current), cancel()] : [cancel(), consent(id, current)].toReversed(),
      );
      assert.equal(cancellation?.status, 200);
      const events = (await eventsOf(id)).map(({ event }) => event);
      if (agreement?.status === 200) {
        assert.deepEqual(events, ["subscription.created", "subscription.updated", "subscription.cancelled"]);
      } else {
        await assertProblem(agreement as Response, 409, "subscription-cancelled");
        assert.deepEqual(events, ["subscription.created", "subscription.cancelled"]);
      }
      assert.equal((await agreementsOf(id)).length, events.length - 1);
    }
  });

  test("a version that is published while the request waits for the subscription's lock is noticed", async () => {
    const published = `${current} patient/Device.rs`;
    for (const [sent, status] of [
      [current, 409],
      [published, 200],
    ] as const) {
      const { id, appSlug } = await pending();
      const response = await withClient(marketplace.database.ownerUrl, async (client) => {
        await client.query("begin");
        await client.query("select from subscriptions where id = $1 for update", [id]);
        const sending = consent(id, sent);
        await eventually("the request waits for the lock", 20_000, async () => {
          const waiting =
            "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
          return (await rows(waiting)).length === 1;
        });
        await publish(appSlug, published);
        await client.query("commit");
        return sending;
      });
      if (status === 409) await assertProblem(response, 409, "scopes-changed");
      assert.equal(response.status, status);
      const expected = status === 200 ? [published, ""] : [agreed, `${added} patient/Device.rs`];
      assert.deepEqual(scopesOf(await read(id)), expected);
      assert.equal((await agreementsOf(id)).length, status === 200 ? 2 : 1);
    }
  });

  test("counts as one of the 30 changes an hour", async () => {
    const { id } = await pending();
    const act = (what: string, body?: object): Promise<Response> =>
      marketplace.requestAs("operator", `/subscriptions/${id}/${what}`, { method: "POST", body });
    for (let changes = 1; changes < 30; changes += 1) {
      const response = await (changes % 2 === 1 ? act("pause", { reason: "ORG_REQUEST" }) : act("resume"));
      assert.equal(response.status, 200);
    }
    await assertProblem(await consent(id, current), 429, "subscription-changed-too-often");
  });

  test("repeated with its idempotency key, returns the first response, also one that was stored without scopes", async () => {
    const { id, appSlug } = await pending();
    const first = await (await consent(id, current, "riverside-admin", "agree-once")).json();
    await publish(appSlug, agreed);
    assert.deepEqual(await (await consent(id, current, "riverside-admin", "agree-once")).json(), first);

    const headers = { "idempotency-key": "before-the-upgrade" };
    const slug = await nextApp();
    const created = (await (await subscribe(marketplace, slug, { headers })).json()) as SubscriptionDto;
    await rows("update idempotent_responses set response = (response::jsonb - 'fhirScopes' - 'pendingScopes')::json");
    const repeated = await subscribe(marketplace, slug, { headers });
    assert.deepEqual([repeated.status, await repeated.json()], [201, created]);
  });

  test("subscribing with the scopes that were shown is refused if the app has others by now", async () => {
    const slug = await nextApp();
    const shown = { fhirScopes: agreed };
    await publish(slug, current);
    await assertProblem(await subscribe(marketplace, slug, { more: shown }), 409, "scopes-changed");
    assert.deepEqual(await rows("select from subscriptions s join apps on apps.id = app_id where slug = $1", slug), []);
    const created = await subscribed(marketplace, slug, { more: { fhirScopes: `${added} ${agreed}` } });
    assert.deepEqual(scopesOf(created), [current, ""]);
  });

  test("the lists of vendors and operators show agreed and pending scopes", async () => {
    const { id, appSlug } = await pending();
    const response = await marketplace.requestAs("operator", `/admin/subscriptions?appSlug=${appSlug}`);
    const { items } = (await response.json()) as { items: SubscriptionDto[] };
    assert.deepEqual(
      items.map((item) => [item.id, ...scopesOf(item)]),
      [[id, agreed, added]],
    );
  });
});
