import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { InstallationDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { type SandboxMarketplace, startSandboxMarketplace } from "../apps/sandbox-marketplace.test-support.ts";
import { dataOf, type Practice, putConfig, startPractice } from "../installations/installations.test-support.ts";
import { buildApp, eventOf, hilltop, riverside, secretOf, send } from "../marketplace-events/events.test-support.ts";

const bearer = (alias: string): string => `Bearer token-of-${alias}`;

const find = async (practice: Practice, slug: string): Promise<InstallationDto | undefined> => {
  const response = await practice.as("riverside-admin", `/app-installations/${slug}`);
  return response.status === 404 ? undefined : dataOf<InstallationDto>(response);
};

const catalogState = async ({ database }: Practice, slug: string): Promise<{ isAbsent: boolean } | undefined> =>
  withClient(database.ownerUrl, async (client) => {
    const { rows } = await client.query<{ isAbsent: boolean }>(
      `select catalog_absent_at is not null as "isAbsent" from apps where slug = $1 and fetched_at is not null`,
      [slug],
    );
    return rows[0];
  });

describe("a sandbox app", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: SandboxMarketplace;
  let practice: Practice;
  before(async () => {
    marketplace = await startSandboxMarketplace(cleanUp);
    practice = await startPractice(cleanUp, marketplace.environment);
  });
  const requestsFor = (slug: string) => marketplace.requests.filter(({ line }) => line.endsWith(`/${slug}`));
  const tell = async (what: "created" | "updated", subscription: { id: string; app: string; orgAlias?: string }) => {
    const secret = secretOf(subscription.orgAlias ?? riverside);
    const response = await send(practice.ehr.url, {
      body: eventOf({ what, at: Date.now(), ...subscription }),
      secret,
    });
    assert.deepEqual(response, { status: 200, message: "applied" });
  };
  const installed = (slug: string, name: string): Promise<unknown> =>
    eventually(`${slug} is installed as ${name}`, 15_000, async () => (await find(practice, slug))?.name === name);

  test("is read with the organisation's token, and never requested from the public catalog", async () => {
    const [slug, id] = [`sandbox-${"a".repeat(56)}`, randomUUID()];
    const configSchema = { type: "object", properties: { site: { type: "string" } }, additionalProperties: false };
    const app = { ...buildApp(slug), name: "First draft", smartLaunchUrl: "https://draft.example/launch" };
    const cdsServicesUrl = "https://draft.example/cds-services";
    marketplace.apps.set(slug, { app: { ...app, configSchema, cdsServicesUrl }, subscribers: { [riverside]: id } });
    await tell("created", { id, app: slug });
    await installed(slug, "First draft");
    assert.equal((await find(practice, slug))?.cdsServicesUrl, cdsServicesUrl);
    for (const { line, authorization } of requestsFor(slug)) {
      assert.deepEqual([line, authorization], [`GET /api/v1/sandbox-apps/${slug}`, bearer(riverside)]);
    }
    assert.equal((await putConfig(practice, slug, { site: "north" })).status, 200);
    assert.equal((await putConfig(practice, slug, { other: 1 })).status, 400);
  });

  test("takes another draft within seconds of subscription.updated, though it was fetched less than a minute ago", async () => {
    const [slug, id] = ["sandbox-scribe", randomUUID()];
    const app = { ...buildApp(slug), name: "First draft" };
    marketplace.apps.set(slug, { app, subscribers: { [riverside]: id } });
    await tell("created", { id, app: slug });
    await installed(slug, "First draft");
    const earlier = requestsFor(slug).length;
    marketplace.apps.set(slug, { app: { ...app, name: "Second draft" }, subscribers: { [riverside]: id } });
    await tell("updated", { id, app: slug });
    await installed(slug, "Second draft");
    assert.deepEqual(
      requestsFor(slug)
        .slice(earlier)
        .map(({ cacheControl }) => cacheControl),
      ["no-cache"],
      "once, and not from a cache",
    );
  });

  test("is read with the token of another subscriber if the marketplace has no subscription of the first", async () => {
    const [slug, id] = ["sandbox-relay", randomUUID()];
    marketplace.apps.set(slug, { app: { ...buildApp(slug), name: "Relay" }, subscribers: { [riverside]: id } });
    await tell("created", { id: randomUUID(), app: slug, orgAlias: hilltop });
    await eventually("it is quarantined", 15_000, async () => (await catalogState(practice, slug))?.isAbsent === true);
    await tell("created", { id, app: slug });
    await installed(slug, "Relay");
    const tokens = new Set(requestsFor(slug).map(({ authorization }) => authorization));
    assert.deepEqual(tokens, new Set([bearer(hilltop), bearer(riverside)]));
  });

  test("is installed only where the marketplace lists it, not by a forged event of another organisation", async () => {
    const [slug, id] = ["sandbox-elsewhere", randomUUID()];
    marketplace.apps.set(slug, { app: { ...buildApp(slug), name: "Elsewhere" }, subscribers: { [riverside]: id } });
    await tell("created", { id, app: slug });
    await installed(slug, "Elsewhere");
    const listed = (): number =>
      marketplace.requests.filter(({ line }) => line.includes(`/subscriptions?orgAlias=${hilltop}&`)).length;
    const earlier = listed();
    await tell("created", { id: randomUUID(), app: slug, orgAlias: hilltop });
    await eventually("the list was asked", 15_000, () => listed() > earlier);
    const { rows } = await withClient(practice.database.ownerUrl, (client) =>
      client.query("select from installations where org_alias = $1 and app_slug = $2", [hilltop, slug]),
    );
    assert.equal(rows.length, 0);
    assert.equal((await practice.as("hilltop-admin", `/app-installations/${slug}`)).status, 404);
  });

  test("that the marketplace doesn't have is not installed", async () => {
    const slug = "sandbox-forged";
    await tell("created", { id: randomUUID(), app: slug });
    await eventually("it is quarantined", 15_000, async () => (await catalogState(practice, slug))?.isAbsent === true);
    assert.equal(await find(practice, slug), undefined);
  });

  test("is fetched at most as often as the organisation's limit, however many events name it", async () => {
    const [slug, id] = ["sandbox-busy", randomUUID()];
    marketplace.apps.set(slug, { app: { ...buildApp(slug), name: "Busy" }, subscribers: { [hilltop]: id } });
    const start = Date.now() - 100;
    for (let nth = 0; nth < 50; nth += 1) {
      const body = eventOf({ what: "updated", id, at: start + nth, app: slug, orgAlias: hilltop });
      assert.equal((await send(practice.ehr.url, { body, secret: secretOf(hilltop) })).status, 200);
    }
    await eventually("it is fetched", 15_000, () => requestsFor(slug).length > 0);
    const minutes = Math.ceil((Date.now() - start) / 60_000);
    // 30 at once, 30 more a minute, and each may be a fetch with the tokens of one organisation.
    assert.ok(requestsFor(slug).length <= 30 + 30 * minutes, String(requestsFor(slug).length));
  });
});

test("without credentials for the marketplace there are no sandbox apps", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const marketplace = await startSandboxMarketplace(cleanUp);
  const practice = await startPractice(cleanUp, { MARKETPLACE_URL: marketplace.url });
  const slug = "sandbox-scribe";
  marketplace.apps.set(slug, { app: buildApp(slug), subscribers: { [riverside]: randomUUID() } });
  const body = eventOf({ what: "created", id: randomUUID(), at: Date.now(), app: slug });
  assert.equal((await send(practice.ehr.url, { body })).status, 200);
  await eventually("it counts as absent", 15_000, async () => (await catalogState(practice, slug))?.isAbsent === true);
  assert.equal(await find(practice, slug), undefined);
  assert.deepEqual(marketplace.requests, []);
});
