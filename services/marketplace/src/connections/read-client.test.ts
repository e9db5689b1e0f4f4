import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type ClientMetadata, type ListingDraft, maxClientMetadataBytes } from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";

const vendor = "northwind-developer";
const patienceMs = 20_000;

describe("the client of a published app", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let publisher: Publisher<Persona>;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp, { PUBLIC_URL: "https://marketplace.example" });
    publisher = createPublisher(marketplace.url, (who) => marketplace.callers.token(who), vendor);
  });

  const client = (slug: string): Promise<Response> => marketplace.get(`/apps/${slug}/client`);
  const read = async (slug: string): Promise<ClientMetadata> => {
    const response = await client(slug);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as ClientMetadata;
  };
  const act = async (who: Persona, path: string, body?: object): Promise<void> => {
    const response = await publisher.request(who, path, { method: "POST", ...(body === undefined ? {} : { body }) });
    assert.ok(response.ok, await response.clone().text());
  };
  const operate = (slug: string, command: string, body?: object): Promise<void> =>
    act("operator", `/admin/apps/${slug}/${command}`, body);
  const becomes = (slug: string, status: number): Promise<void> =>
    eventually(`${slug} is ${status}`, patienceMs, async () => (await client(slug)).status === status);
  const query = (statement: string, ...values: unknown[]): Promise<unknown> =>
    withClient(marketplace.database.ownerUrl, (owner) => owner.query(statement, values));
  const publishNext = async (slug: string, changes: ListingDraft): Promise<void> => {
    await publisher.edit(slug, changes);
    await publisher.approve(await publisher.submit(slug));
  };

  test("is a document at its own URL, small, cacheable for a minute, and readable by any page", async () => {
    await publisher.publish("quill-client", { websiteUrl: "https://quill.example" });
    const response = await client("quill-client");
    const text = await response.clone().text();
    const metadata = (await response.json()) as ClientMetadata;
    assertShape("ClientMetadata", metadata);
    assert.equal(metadata.client_id, "https://marketplace.example/api/v1/apps/quill-client/client");
    const app = (await (await marketplace.get("/apps/quill-client")).json()) as { id: string; iconUrl: string };
    const { client_name, logo_uri, redirect_uris, software_id, scope, token_endpoint_auth_method } = metadata;
    assert.deepEqual(
      { client_name, logo_uri, redirect_uris, software_id, scope, token_endpoint_auth_method },
      {
        client_name: "Quill",
        logo_uri: app.iconUrl,
        redirect_uris: ["https://quill.example/back"],
        software_id: app.id,
        scope: "openid launch patient/Observation.rs",
        token_endpoint_auth_method: "none",
      },
    );
    assert.ok(Buffer.byteLength(text) <= maxClientMetadataBytes);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal(response.headers.get("cache-control"), "public, max-age=60");
    assert.equal(response.headers.get("access-control-allow-origin"), "*");
    const etag = response.headers.get("etag") ?? "";
    assert.match(etag, /^"[\w-]+"$/);
    assert.equal((await marketplace.get("/apps/quill-client/client", { "if-none-match": etag })).status, 304);
  });

  test("is of the published revision: redirect URIs and keys change with an approval, and not before", async () => {
    await publisher.publish("quill-reviewed");
    const earlier = await read("quill-reviewed");
    const oauth = {
      type: "ASYMMETRIC",
      redirectUris: ["https://quill.example/elsewhere"],
      jwksUri: "https://quill.example/jwks.json",
    } as const;
    await publisher.edit("quill-reviewed", { oauth });
    const review = await publisher.submit("quill-reviewed");
    assert.deepEqual(await read("quill-reviewed"), earlier);
    const { differences } = await publisher.approve(review);
    assert.deepEqual(
      differences.flatMap(({ pointer, mark }) => (mark === undefined ? [] : [[pointer, mark]])),
      [
        ["/oauth/redirectUris/0", "redirect-uri-changed"],
        ["/oauth/redirectUris/0", "redirect-uri-changed"],
        ["/oauth/jwksUri", "url-changed"],
      ],
    );
    await eventually("the new client", patienceMs, async () => {
      const { redirect_uris, jwks_uri } = await read("quill-reviewed");
      return redirect_uris[0] === oauth.redirectUris[0] && jwks_uri === oauth.jwksUri;
    });
  });

  test("stays while the app is unpublished, and follows its revisions then", async () => {
    await publisher.publish("quill-hidden");
    const earlier = await read("quill-hidden");
    await act(vendor, "/developer/apps/quill-hidden/unpublish");
    await eventually(
      "it is hidden",
      patienceMs,
      async () => (await marketplace.get("/apps/quill-hidden")).status === 404,
    );
    assert.deepEqual(await read("quill-hidden"), earlier);
    await publishNext("quill-hidden", { oauth: { redirectUris: ["https://quill.example/new"] } });
    await eventually("its new revision", patienceMs, async () =>
      (await read("quill-hidden")).redirect_uris.includes("https://quill.example/new"),
    );
  });

  test("is gone while the app is suspended with its subscriptions, also if it is unpublished, and returns with it", async () => {
    await publisher.publish("quill-taken");
    const reason = "Its launch page was taken over.";
    await read("quill-taken");
    await operate("quill-taken", "suspend", { reason });
    await eventually(
      "it is hidden",
      patienceMs,
      async () => (await marketplace.get("/apps/quill-taken")).status === 404,
    );
    assert.equal((await client("quill-taken")).status, 200);
    await operate("quill-taken", "suspend", { reason, pauseSubscriptions: true });
    await becomes("quill-taken", 410);
    await assertProblem(await client("quill-taken"), 410, "client-suspended");
    await operate("quill-taken", "reinstate");
    await becomes("quill-taken", 200);
    await act(vendor, "/developer/apps/quill-taken/unpublish");
    await read("quill-taken");
    await operate("quill-taken", "suspend", { reason, pauseSubscriptions: true });
    await becomes("quill-taken", 410);
    await operate("quill-taken", "reinstate");
    await becomes("quill-taken", 200);
  });

  test("costs the database nothing when it is asked for repeatedly, also where there is none", async () => {
    await publisher.publish("quill-silent", { oauth: null } as unknown as ListingDraft);
    await publisher.publish("quill-known", {});
    assert.deepEqual([(await client("quill-silent")).status, (await client("quill-known")).status], [404, 200]);
    await withClient(marketplace.database.ownerUrl, async (owner) => {
      await owner.query("begin");
      await owner.query("lock table revisions in access exclusive mode");
      await assertProblem(await client("quill-silent"), 404, "client-not-found");
      assert.equal((await client("quill-known")).status, 200);
      await owner.query("rollback");
    });
  });

  test("doesn't exist before the first publication, without oauth, without a usable grant, or over 5 KiB", async () => {
    const detailOf = async (slug: string): Promise<string> =>
      String((await assertProblem(await client(slug), 404, "client-not-found"))["detail"]);
    await publisher.create("quill-draft");
    for (const slug of ["quill-draft", "no-such-app", "NO_SLUG", "sandbox-quill-draft"]) {
      assert.match(await detailOf(slug), /No app with that slug has been published/);
    }
    await publisher.publish("quill-mute", { oauth: null } as unknown as ListingDraft);
    assert.match(await detailOf("quill-mute"), /has no oauth/);
    const change = async (oauth: object): Promise<void> => {
      await query(
        `update revisions set draft = jsonb_set(revisions.draft::jsonb, '{oauth}', $1)::json
         from listings where listings.app_id = revisions.app_id and slug = 'quill-mute'`,
        JSON.stringify(oauth),
      );
      await query("notify catalog_changed");
    };
    await change({ type: "PUBLIC" });
    await eventually("another reason", patienceMs, async () => /no usable grant/.test(await detailOf("quill-mute")));
    await change({ type: "PUBLIC", redirectUris: [`https://quill.example/${"x".repeat(5_000)}`] });
    await eventually("its size", patienceMs, async () =>
      /has \d{4} bytes; the limit is 5120/.test(await detailOf("quill-mute")),
    );
  });
});

describe("the client of a sandbox app", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let publisher: Publisher<Persona>;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp, { PUBLIC_URL: "https://marketplace.example" });
    publisher = createPublisher(marketplace.url, (who) => marketplace.callers.token(who), vendor);
    const body = { displayName: "Sandbox", kind: "SANDBOX", vendorSlug: "northwind-health" };
    const path = "/admin/organisations/northwind-sandbox";
    assert.equal((await marketplace.requestAs("operator", path, { method: "PUT", body })).status, 201);
  });
  const install = (slug: string): Promise<Response> =>
    marketplace.requestAs(vendor, `/developer/apps/${slug}/test-subscriptions`, {
      body: { orgAlias: "northwind-sandbox" },
    });
  const client = (slug: string, token = marketplace.callers.token(vendor)): Promise<Response> =>
    sendApiRequest(marketplace.url, `/sandbox-apps/sandbox-${slug}/client`, token);

  test("is of the draft as it was installed last, without its links", async () => {
    await publisher.create("quill-try", { websiteUrl: "https://quill.example" });
    assert.equal((await install("quill-try")).status, 201);
    const response = await client("quill-try");
    assert.equal(response.headers.get("cache-control"), "private, no-store");
    const metadata = (await response.json()) as ClientMetadata;
    assertShape("ClientMetadata", metadata);
    const { software_id: _appId, ...rest } = metadata;
    assert.deepEqual(rest, {
      client_id: "https://marketplace.example/api/v1/sandbox-apps/sandbox-quill-try/client",
      client_name: "Quill",
      logo_uri: "https://marketplace.example/media/sandbox-icon.png",
      redirect_uris: ["https://quill.example/back"],
      grant_types: ["authorization_code"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      scope: "openid launch patient/Observation.rs",
      software_version: "1.0.0",
    });
    await publisher.edit("quill-try", { oauth: { redirectUris: ["https://quill.example/other"] } });
    assert.deepEqual(await (await client("quill-try")).json(), metadata);
    const again = await install("quill-try");
    assert.equal(again.status, 200);
    const changed = (await (await client("quill-try")).json()) as ClientMetadata;
    assert.deepEqual(changed, { ...metadata, redirect_uris: ["https://quill.example/other"] });
  });

  test("is read by those who may read the app, and by nobody else", async () => {
    await publisher.create("quill-read");
    await install("quill-read");
    const ehr = (alias: string): Promise<string> =>
      signToken(marketplace.callers, { roles: ["ehr-service"], organization: [alias] });
    const statuses: [string, number][] = [
      [marketplace.callers.token("operator"), 200],
      [await ehr("northwind-sandbox"), 200],
      [await ehr("northwind-second"), 404],
      [marketplace.callers.token("lumen-developer"), 404],
    ];
    for (const [token, status] of statuses) assert.equal((await client("quill-read", token)).status, status);
    assert.equal((await marketplace.get("/apps/sandbox-quill-read/client")).status, 404);
    await assertProblem(await client("quill-unknown"), 404, "sandbox-app-not-found");
  });

  test("doesn't exist if the draft doesn't say how the app signs in, and errors in oauth prevent an installation", async () => {
    await publisher.create("quill-silent", { oauth: null } as unknown as ListingDraft);
    assert.equal((await install("quill-silent")).status, 201);
    await assertProblem(await client("quill-silent"), 404, "client-not-found");
    await publisher.edit("quill-silent", { oauth: { type: "PUBLIC", redirectUris: ["https://*.quill.example/"] } });
    const problem = await assertProblem(await install("quill-silent"), 422, "draft-has-errors");
    const [error] = problem["errors"] as { pointer: string; code: string }[];
    assert.deepEqual([error?.pointer, error?.code], ["/oauth/redirectUris/0", "redirect-uri-invalid"]);
  });
});
