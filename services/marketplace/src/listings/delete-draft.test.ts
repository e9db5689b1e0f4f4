import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditPage, ListingPage, MediaDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";

const vendor = "northwind-developer";
const sandbox = "northwind-sandbox";

describe("the deletion of a draft", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let publisher: Publisher<Persona>;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp, {
      STATEMENT_TIMEOUT_MS: "60000",
      REQUEST_TIMEOUT_MS: "60000",
    });
    publisher = createPublisher(marketplace.url, (who) => marketplace.callers.token(who), vendor);
    const body = { displayName: "Sandbox", kind: "SANDBOX", vendorSlug: "northwind-health" };
    const options = { method: "PUT", body };
    assert.equal((await marketplace.requestAs("operator", `/admin/organisations/${sandbox}`, options)).status, 201);
  });
  const remove = (slug: string, who: Persona = vendor): Promise<Response> =>
    marketplace.requestAs(who, `/developer/apps/${slug}`, { method: "DELETE" });
  const begin = (slug: string): Promise<Response> =>
    marketplace.requestAs(vendor, "/developer/apps", { body: { slug, name: "Quill" } });
  const read = (slug: string): Promise<Response> => marketplace.requestAs(vendor, `/developer/apps/${slug}`);
  const upload = (slug: string): Promise<Response> =>
    marketplace.requestAs(vendor, `/developer/apps/${slug}/media?kind=document`, {
      body: Buffer.from("%PDF-1.4\n%%EOF\n"),
      headers: { "content-type": "application/pdf" },
    });
  const submit = (slug: string): Promise<Response> =>
    marketplace.requestAs(vendor, `/developer/apps/${slug}/submit`, { method: "POST" });
  const query = (statement: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows);

  /** Sends the requests so that each waits for the listing's lock behind those before it. */
  const inOrder = (slug: string, requests: (() => Promise<Response>)[]): Promise<Response[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from listings where slug = $1 for update", [slug]);
      const sent: Promise<Response>[] = [];
      for (const send of requests) {
        sent.push(send());
        await eventually(`${sent.length} wait`, 30_000, async () => {
          const [row] = await query(
            "select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          );
          return row?.["waiting"] === sent.length;
        });
      }
      await client.query("commit");
      return Promise.all(sent);
    });

  test("takes everything of it, is audited, and frees its slug", async () => {
    await publisher.create("quill-deleted", { reviewNotes: "Sign in as demo" });
    const uploaded = (await (await upload("quill-deleted")).json()) as MediaDto;
    await assertProblem(await remove("quill-deleted", "lumen-developer"), 404, "listing-not-found");
    assert.equal((await remove("quill-deleted")).status, 204);

    await assertProblem(await read("quill-deleted"), 404, "listing-not-found");
    await assertProblem(await remove("quill-deleted"), 404, "listing-not-found");
    const listed = (await (await marketplace.requestAs(vendor, "/developer/apps")).json()) as ListingPage;
    assert.ok(listed.items.every(({ slug }) => slug !== "quill-deleted"));
    const media = await query("select app_id, deleting_at is not null as marked from media where id = $1", uploaded.id);
    assert.deepEqual(media, [{ app_id: null, marked: true }]);
    const audit = await marketplace.requestAs("operator", "/admin/audit?action=listing.delete");
    const [entry, ...others] = ((await audit.json()) as AuditPage).items;
    assert.deepEqual(others, []);
    assert.deepEqual(
      [entry?.onBehalfOf, entry?.target, entry?.after],
      ["vendor:northwind-health", { kind: "listing", id: "quill-deleted" }, null],
    );

    assert.equal((await begin("quill-deleted")).status, 201);
    const again = `/developer/apps/quill-deleted/media/${uploaded.id}`;
    await assertProblem(await marketplace.requestAs(vendor, again), 404, "media-not-found");
  });

  test("is refused once it was submitted, also if that was withdrawn", async () => {
    await publisher.create("quill-submitted");
    await publisher.submit("quill-submitted");
    await assertProblem(await remove("quill-submitted"), 409, "listing-submitted");
    const options = { method: "POST" };
    const withdrawn = await marketplace.requestAs(vendor, "/developer/apps/quill-submitted/withdraw", options);
    assert.equal(withdrawn.status, 200);
    await assertProblem(await remove("quill-submitted"), 409, "listing-submitted");
    assert.equal((await read("quill-submitted")).status, 200);
    // The service's login can't either.
    const [listing] = await query("select app_id from listings where slug = 'quill-submitted'");
    await withClient(marketplace.database.serviceUrl, (client) =>
      assert.rejects(client.query("select delete_draft($1, now())", [listing?.["app_id"]]), /was submitted/),
    );
  });

  test("is refused while a sandbox organisation has it; afterwards its slug stays known, and nobody reads the app", async () => {
    await begin("quill-tried");
    await publisher.edit("quill-tried", { category: "DOCUMENTATION" });
    const path = "/developer/apps/quill-tried/test-subscriptions";
    const installed = await marketplace.requestAs(vendor, path, { body: { orgAlias: sandbox } });
    assert.equal(installed.status, 201, await installed.clone().text());
    const { id } = (await installed.json()) as SubscriptionDto;
    const problem = await assertProblem(await remove("quill-tried"), 409, "draft-installed");
    assert.match(problem["detail"] as string, /installed in northwind-sandbox\. End each installation with DELETE/);
    assert.equal((await marketplace.requestAs(vendor, `${path}/${sandbox}`, { method: "DELETE" })).status, 200);
    assert.equal((await remove("quill-tried")).status, 204);

    await assertProblem(await begin("quill-tried"), 409, "slug-taken");
    for (const who of [vendor, "operator"] as const) {
      for (const at of ["", "/client"]) {
        const response = await marketplace.requestAs(who, `/sandbox-apps/sandbox-quill-tried${at}`);
        await assertProblem(response, 404, "sandbox-app-not-found");
      }
    }
    const record = await marketplace.requestAs("operator", `/subscriptions/${id}`);
    const { appSlug, status } = (await record.json()) as SubscriptionDto;
    assert.deepEqual([appSlug, status], ["sandbox-quill-tried", "cancelled"]);
  });

  for (const [first, second, slug, statuses] of [
    ["submit", "delete", "quill-race-1", [200, 409]],
    ["delete", "submit", "quill-race-2", [204, 404]],
    ["delete", "delete", "quill-race-3", [204, 404]],
    ["delete", "upload", "quill-race-4", [204, 404]],
    ["upload", "delete", "quill-race-5", [201, 204]],
  ] as const) {
    test(`at the same time as another request: ${first}, then ${second}: ${statuses.join(" and ")}`, async () => {
      await publisher.create(slug);
      const requests = { submit, delete: (of: string) => remove(of), upload };
      const responses = await inOrder(
        slug,
        [first, second].map((name) => () => requests[name](slug)),
      );
      assert.deepEqual(
        responses.map(({ status }) => status),
        statuses,
      );
    });
  }
});
