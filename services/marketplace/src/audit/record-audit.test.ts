import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditEntry, AuditPage, SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertShape } from "@ehr-marketplace/test-kit/contract";
import type { RequestOptions } from "@ehr-marketplace/tests/support/callers";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";

type Persona = Exclude<Parameters<MarketplaceWithCallers["requestAs"]>[0], null>;
const alias = "riverside-clinic";

describe("the audit log", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const newest = async (organisation: string): Promise<AuditEntry[]> => {
    const response = await marketplace.requestAs("operator", `/organisations/${organisation}/audit?limit=2`);
    const page = (await response.json()) as AuditPage;
    assertShape("AuditPage", page);
    return page.items;
  };

  /** Asks, and returns what was answered and the only entry that it left. */
  const leavesOne = async (
    organisation: string,
    who: Persona,
    path: string,
    options: RequestOptions,
  ): Promise<{ body: Record<string, unknown>; entry: AuditEntry | undefined }> => {
    const [had] = await newest(organisation);
    const response = await marketplace.requestAs(who, path, options);
    assert.ok(response.ok, await response.clone().text());
    const [entry, last] = await newest(organisation);
    assert.notEqual(entry?.id, had?.id);
    assert.equal(last?.id, had?.id);
    assert.equal(entry?.requestId, response.headers.get("x-request-id"));
    assert.deepEqual(
      [entry?.actor.issuer, entry?.actor.subject, entry?.onBehalfOf],
      [marketplace.callers.identityProvider.issuer, who, organisation],
    );
    return { body: (await response.json()) as Record<string, unknown>, entry };
  };
  const leavesNone = async (
    who: Persona | null,
    path: string,
    options: RequestOptions,
    status: number,
    organisation = alias,
  ): Promise<void> => {
    const had = await newest(organisation);
    const response = await marketplace.requestAs(who, path, options);
    assert.equal(response.status, status, await response.clone().text());
    assert.deepEqual(await newest(organisation), had, `${who} ${path}`);
  };
  const bodyFor = async (appSlug: string): Promise<object> => {
    const [plan] = await marketplace.plans(appSlug);
    return { appSlug, orgAlias: alias, pricingPlanId: plan?.id };
  };

  /** The audit log has the plan's id only. */
  const withoutPlan = ({ pricingPlan: _plan, ...state }: Record<string, unknown>): Record<string, unknown> => state;

  test("has one entry for each change of a subscription: actor, role, organisation, action, before and after", async () => {
    const options = { body: await bodyFor("lumen-schedule") };
    const created = await leavesOne(alias, "riverside-admin", "/subscriptions", options);
    const { id, createdAt } = created.body as SubscriptionDto;
    assert.deepEqual(created.entry, {
      id: created.entry?.id,
      at: createdAt,
      actor: { issuer: created.entry?.actor.issuer, subject: "riverside-admin", role: "org-admin" },
      onBehalfOf: alias,
      action: "subscription.create",
      target: { kind: "subscription", id },
      requestId: created.entry?.requestId,
      before: null,
      after: { ...withoutPlan(created.body), blockReason: null },
    });
    let { body } = created;
    let blockReason: string | null = null;
    for (const [who, role, what, reason] of [
      ["billing", "billing", "pause", "NON_PAYMENT"],
      ["operator", "operator", "resume"],
      ["two-practices", "org-admin", "pause", "ORG_REQUEST"],
      ["riverside-admin", "org-admin", "resume"],
      ["operator", "operator", "pause", "SECURITY"],
      ["riverside-admin", "org-admin", "cancel"],
      ["operator", "operator", "lift-block"],
    ] as const) {
      const change = { method: "POST", ...(reason === undefined ? {} : { body: { reason } }) };
      const { body: after, entry } = await leavesOne(alias, who, `/subscriptions/${id}/${what}`, change);
      const earlier: unknown = { ...withoutPlan(body), blockReason };
      blockReason = what === "cancel" ? "SECURITY" : null;
      assert.deepEqual(
        [entry?.action, entry?.target, entry?.actor.role, entry?.at, entry?.before, entry?.after],
        [
          `subscription.${what}`,
          { kind: "subscription", id },
          role,
          after["updatedAt"],
          earlier,
          { ...withoutPlan(after), blockReason },
        ],
      );
      body = after;
    }
  });

  test("has one entry for each change of an organisation, which says that the secret changed, without the secret", async () => {
    const put = (body: object): RequestOptions => ({ method: "PUT", body });
    const path = "/admin/organisations/audited";
    const secret = "a secret nobody reads";
    const registered = await leavesOne("audited", "operator", path, put({ displayName: "One" }));
    const { secret: made, ...first } = registered.body;
    assert.deepEqual(
      [registered.entry?.action, registered.entry?.target, registered.entry?.before, registered.entry?.after],
      ["organisation.register", { kind: "organisation", id: "audited" }, null, { ...first, secretChanged: true }],
    );
    const renamed = await leavesOne("audited", "operator", path, put({ displayName: "Two" }));
    assert.deepEqual(
      [renamed.entry?.action, renamed.entry?.actor.role, renamed.entry?.before, renamed.entry?.after],
      ["organisation.change", "operator", first, { ...renamed.body, secretChanged: false }],
    );
    const rotated = await leavesOne("audited", "operator", path, put({ displayName: "Two", secret }));
    assert.deepEqual(rotated.entry?.after, { ...rotated.body, secretChanged: true });
    const log = await (await marketplace.requestAs("operator", "/organisations/audited/audit")).text();
    for (const hidden of [secret, String(made), "encrypted"]) assert.ok(!log.includes(hidden));
  });

  test("has the request id that the client sent", async () => {
    const headers = { "x-request-id": "their.own-id_1" };
    const options = { body: await bodyFor("inbox-heron"), headers };
    const { entry } = await leavesOne(alias, "riverside-admin", "/subscriptions", options);
    assert.equal(entry?.requestId, "their.own-id_1");
  });

  test("has no entry for requests that changed nothing", async () => {
    const headers = { "idempotency-key": "audited once" };
    const options = { body: await bodyFor("lab-lantern"), headers };
    const { body } = await leavesOne(alias, "riverside-admin", "/subscriptions", options);
    await leavesNone("riverside-admin", "/subscriptions", options, 201);
    const path = `/subscriptions/${String(body["id"])}`;
    await leavesNone("operator", `${path}/resume`, { method: "POST" }, 200);
    const pause = { body: { reason: "ORG_REQUEST" } };
    await leavesOne(alias, "riverside-admin", `${path}/pause`, pause);
    await leavesNone("riverside-admin", `${path}/pause`, pause, 200);
    await leavesOne(alias, "riverside-admin", `${path}/cancel`, { method: "POST" });
    await leavesNone("riverside-admin", `${path}/cancel`, { method: "POST" }, 200);
    await leavesNone("operator", `${path}/lift-block`, { method: "POST" }, 200);
    const organisation = { method: "PUT", body: { displayName: "Twice" } };
    await leavesOne("twice", "operator", "/admin/organisations/twice", organisation);
    await leavesNone("operator", "/admin/organisations/twice", organisation, 200, "twice");
    await leavesNone("riverside-member", path, {}, 200);
  });

  test("has no entry for refused requests", async () => {
    const body = await bodyFor("cuffline");
    await leavesNone("riverside-member", "/subscriptions", { body }, 403);
    await leavesNone("riverside-admin", "/subscriptions", { body: { ...body, appSlug: "none" } }, 422);
    await leavesNone("riverside-admin", "/subscriptions", { body: {} }, 400);
    const { body: created } = await leavesOne(alias, "riverside-admin", "/subscriptions", { body });
    await leavesNone("riverside-admin", "/subscriptions", { body }, 409);
    const path = `/subscriptions/${String(created["id"])}`;
    await leavesNone("riverside-admin", `${path}/pause`, { body: { reason: "SECURITY" } }, 403);
    await leavesNone("hilltop-admin", `${path}/cancel`, { method: "POST" }, 404);
    await leavesNone("operator", `${path}/lift-block`, { method: "POST" }, 409);
    await leavesNone(null, `${path}/cancel`, { method: "POST" }, 401);
    const unusable = { method: "PUT", body: { displayName: "x", callbackUrl: "https://10.0.0.1/" } };
    await leavesNone("operator", "/admin/organisations/refused", unusable, 422, "refused");
  });
});
