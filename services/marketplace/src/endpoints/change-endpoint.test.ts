import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { WebhookEndpointDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { registered } from "./register.test-support.ts";

const path = "/developer/webhooks";

describe("an endpoint of a vendor", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const query = async <T>(text: string, values: unknown[] = []): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(text, values)).rows as T[]);
  const ask = (method: string, id: string, body?: unknown): Promise<Response> =>
    marketplace.requestAs("northwind-developer", `${path}/${id}`, { method, ...(body === undefined ? {} : { body }) });
  const changed = async (id: string, body: unknown): Promise<WebhookEndpointDto> => {
    const response = await ask("PATCH", id, body);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as WebhookEndpointDto;
  };
  const logOf = (id: string): Promise<Record<string, unknown>[]> =>
    query(`select action, before, after from audit_entries where target_id = $1 order by at, id`, [id]);

  test("changes its URL, its events, or both, keeps other fields, and records it in the audit log", async () => {
    const registration = await registered(marketplace);
    const { id } = registration;
    const fresh = { ...registration, disabledReason: null, heldSince: null, nextProbeAt: null, rotation: null };
    const [row] = await query<{ encrypted_secret: string }>("select * from webhook_endpoints where id = $1", [id]);

    const moved = { ...fresh, url: "https://other.example/hook" };
    assert.deepEqual(await changed(id, { url: moved.url }), moved);
    const retuned = { ...moved, events: ["ping"] };
    assert.deepEqual(await changed(id, { events: ["ping"] }), retuned);
    const both = { ...fresh, url: "https://third.example/", events: ["app.updated", "ping"] };
    assert.deepEqual(await changed(id, { url: both.url, events: both.events }), both);
    assert.deepEqual(await (await ask("GET", id)).json(), both);

    const [after] = await query<{ encrypted_secret: string }>("select * from webhook_endpoints where id = $1", [id]);
    assert.equal(after?.encrypted_secret, row?.encrypted_secret);
    assert.deepEqual(await logOf(id), [
      { action: "webhook-endpoint.register", before: null, after: fresh },
      { action: "webhook-endpoint.change", before: fresh, after: moved },
      { action: "webhook-endpoint.change", before: moved, after: retuned },
      { action: "webhook-endpoint.change", before: retuned, after: both },
    ]);
  });

  test("is not changed by its current values, which are not in the audit log either", async () => {
    const { id, url, events } = await registered(marketplace);
    const unchanged = await query("select * from webhook_endpoints where id = $1", [id]);
    await changed(id, { url, events });
    assert.deepEqual(await query("select * from webhook_endpoints where id = $1", [id]), unchanged);
    assert.equal((await logOf(id)).length, 1);
    await changed(id, { events: events.toReversed() });
    assert.equal((await logOf(id)).length, 2);
  });

  test("serialises concurrent changes, and the audit log has their order", async () => {
    const { id } = await registered(marketplace);
    const urls = Array.from({ length: 8 }, (_, index) => `https://hooks.example/${index}`);
    await Promise.all(urls.map((url) => changed(id, { url })));
    const entries = await query<{ before: WebhookEndpointDto; after: WebhookEndpointDto }>(
      "select before, after from audit_entries where target_id = $1 and action like '%.change' order by at, id",
      [id],
    );
    assert.deepEqual(
      entries.slice(1).map((entry) => entry.before),
      entries.slice(0, -1).map((entry) => entry.after),
    );
    assert.deepEqual(entries.map(({ after }) => after.url).toSorted(), urls);
    assert.deepEqual(await (await ask("GET", id)).json(), entries.at(-1)?.after);
  });

  test("gets a later time than the previous change, also when that process's clock was ahead", async () => {
    const { id } = await registered(marketplace);
    const [ahead] = await query<{ updated_at: Date }>(
      "update webhook_endpoints set updated_at = now() + interval '1 hour' where id = $1 returning updated_at",
      [id],
    );
    await changed(id, { events: ["ping"] });
    const times = await query<{ updated_at: Date; at: Date }>(
      `select updated_at, at from webhook_endpoints join audit_entries on target_id = webhook_endpoints.id::text
       where target_id = $1 and action = 'webhook-endpoint.change'`,
      [id],
    );
    const next = new Date((ahead?.updated_at.getTime() ?? 0) + 1);
    assert.deepEqual(times, [{ updated_at: next, at: next }]);
  });

  for (const [body, pointer] of [
    [{}, "/body"],
    [[], "/body"],
    [{ secret: "correct horse battery staple" }, "/body/secret"],
    [{ status: "active" }, "/body/status"],
    [{ url: null }, "/body"],
    [{ events: [] }, "/body/events"],
    [{ events: ["ping", "nothing.happened"] }, "/body/events/1"],
  ] as const) {
    test(`returns 400 at ${pointer} for ${JSON.stringify(body)}`, async () => {
      const { id } = await registered(marketplace, { by: "northwind-developer" });
      const problem = await assertProblem(await ask("PATCH", id, body), 400, "invalid-request");
      const pointers = (problem["errors"] as { pointer: string }[]).map((each) => each.pointer);
      assert.ok(pointers.includes(pointer), pointers.join(", "));
      assert.equal((await ask("DELETE", id)).status, 204);
    });
  }

  test("is deleted once, is sent nothing afterwards, and keeps its delivery log", async () => {
    const { id } = await registered(marketplace);
    const other = await registered(marketplace);
    const response = await ask("DELETE", id);
    assert.equal(response.status, 204);
    assert.equal(await response.text(), "");
    const recipients = "select id, status from recipients where id = any ($1::uuid[]) order by status";
    assert.deepEqual(await query(recipients, [[id, other.id]]), [
      { id: other.id, status: "active" },
      { id, status: "disabled" },
    ]);

    await assertProblem(await ask("DELETE", id), 404, "endpoint-not-found");
    await assertProblem(await ask("GET", id), 404, "endpoint-not-found");
    await assertProblem(await ask("GET", `${id}/deliveries`), 404, "endpoint-not-found");
    const list = (await (await marketplace.requestAs("northwind-developer", path)).json()) as {
      items: { id: string }[];
    };
    assert.ok(list.items.some((each) => each.id === other.id) && !list.items.some((each) => each.id === id));

    const log = await logOf(id);
    assert.deepEqual(
      log.map(({ action }) => action),
      ["webhook-endpoint.register", "webhook-endpoint.delete"],
    );
    const [row] = await query<{ deleted_at: Date }>("select deleted_at from webhook_endpoints where id = $1", [id]);
    assert.deepEqual(log[1]?.["after"], { deletedAt: row?.deleted_at.toISOString() });
  });

  test("is deleted by one of many concurrent requests", async () => {
    const { id } = await registered(marketplace);
    const responses = await Promise.all(Array.from({ length: 6 }, () => ask("DELETE", id)));
    assert.deepEqual(
      responses.map(({ status }) => status).toSorted((a, b) => a - b),
      [204, 404, 404, 404, 404, 404],
    );
  });

  test("returns 400 for a deletion with a body", async () => {
    const { id } = await registered(marketplace);
    await assertProblem(await ask("DELETE", id, { reason: "none" }), 400, "invalid-request");
    assert.equal((await ask("GET", id)).status, 200);
  });
});
