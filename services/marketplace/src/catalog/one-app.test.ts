import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto, CategoryDto, PricingPlanDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, type ServiceDatabase, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import { type RunningMarketplace, startMarketplace } from "@ehr-marketplace/tests/support/marketplace";

describe("one app, its pricing, featured apps, and categories", () => {
  const cleanUp = cleanUpAfter();
  let database: ServiceDatabase;
  let marketplace: RunningMarketplace;
  before(async () => {
    database = await cloneDatabase(cleanUp, "demo");
    marketplace = await startMarketplace(cleanUp, database.serviceUrl, { CATALOG_CACHE_SECONDS: "0" });
  });
  const read = async <T>(path: string): Promise<T> => {
    const response = await marketplace.get(path);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as T;
  };

  test("GET /apps/{slug} returns the app", async () => {
    const app = await read<AppDto>("/apps/northwind-scribe");
    assertShape("AppDto", app);
    assert.deepEqual(
      [app.name, app.vendor.slug, app.category],
      ["Northwind Scribe", "northwind-health", "DOCUMENTATION"],
    );
    assert.equal(app.smartLaunchUrl, "http://127.0.0.1:8083/launch");
    assert.match(app.iconUrl, /^http:\/\/127\.0\.0\.1:8080\/media\/[0-9a-f-]{36}$/);
    const schema = app.configSchema as { required?: string[]; properties: Record<string, { writeOnly?: boolean }> };
    assert.equal(schema.required, undefined);
    assert.ok(schema.properties["language"]);
    assert.equal(schema.properties["apiKey"]?.writeOnly, true);
    assert.equal((await read<AppDto>("/apps/lumen-schedule")).smartLaunchUrl, null);
  });

  test("every app and every plan of the demo data has the shape of the contract", async () => {
    const { content } = await read<{ content: AppDto[] }>("/apps?size=100");
    const models = new Set<string>();
    for (const app of content) {
      const plans = await read<PricingPlanDto[]>(`/apps/${app.slug}/pricing`);
      assert.ok(plans.length >= 1 && plans.length <= 4, app.slug);
      for (const plan of plans) {
        assertShape("PricingPlanDto", plan);
        models.add(plan.pricingModel);
      }
      assert.deepEqual(new Set(app.pricingModels), new Set(plans.map((plan) => plan.pricingModel)));
      assertShape("AppDto", app);
    }
    assert.deepEqual([...models].toSorted(), ["FLAT", "FREE", "PER_UNIT", "TIERED", "USAGE"]);
  });

  test("GET /apps/{slug}/pricing returns the plans in the vendor's order", async () => {
    assert.equal((await read<PricingPlanDto[]>("/apps/northwind-scribe/pricing"))[0]?.pricingModel, "FLAT");
    assert.equal((await read<PricingPlanDto[]>("/apps/lumen-schedule/pricing"))[0]?.pricingModel, "PER_UNIT");
  });

  test("the starting price is the lowest fixed monthly price; none if all plans are by usage", async () => {
    const { content } = await read<{ content: AppDto[] }>("/apps?size=100");
    let withoutFixedPrice = 0;
    for (const app of content) {
      const plans = await read<PricingPlanDto[]>(`/apps/${app.slug}/pricing`);
      const fixed = plans.filter((plan) => ["FREE", "FLAT", "PER_UNIT"].includes(plan.pricingModel));
      const monthly = fixed.map((plan) => Number(plan.amount) / (plan.interval === "YEAR" ? 12 : 1));
      if (fixed.length === 0) withoutFixedPrice += 1;
      const cheapest = fixed[monthly.indexOf(Math.min(...monthly))];
      const expected = cheapest && {
        amount: cheapest.amount,
        currency: cheapest.currency,
        interval: cheapest.interval,
      };
      assert.deepEqual(app.startingPrice, expected ?? null, app.slug);
    }
    assert.ok(withoutFixedPrice > 0);
  });

  for (const path of [
    "no-such-app",
    "NORTHWIND-SCRIBE",
    "northwind_scribe",
    "northwind-scribe%20",
    "..%2Fsearch",
    "%F0%9F%92%8A",
    "a".repeat(500),
  ]) {
    test(`/apps/${path.slice(0, 30)}, its pricing and its versions are 404`, async () => {
      const responses = [`/apps/${path}`, `/apps/${path}/pricing`, `/apps/${path}/versions`].map((url) =>
        marketplace.server.inject(`/api/v1${url}`),
      );
      for (const response of await Promise.all(responses)) assert.equal(response.statusCode, 404, response.body);
    });
  }

  test("an unpublished app is in no response", async () => {
    await withClient(database.ownerUrl, (client) =>
      client.query("update apps set status = 'withdrawn' where slug = 'inbox-heron'"),
    );
    await assertProblem(await marketplace.get("/apps/inbox-heron"), 404, "app-not-found");
    await assertProblem(await marketplace.get("/apps/inbox-heron/pricing"), 404, "app-not-found");
    await assertProblem(await marketplace.get("/apps/inbox-heron/versions"), 404, "app-not-found");
    const seen = JSON.stringify([
      await read("/apps?size=100"),
      await read("/apps/search?q=inbox+heron"),
      await read("/apps/search?category=EHR_EFFICIENCY"),
      await read("/apps/featured"),
    ]);
    assert.ok(!seen.includes("inbox-heron"));
    assert.equal((await read<{ totalElements: number }>("/apps")).totalElements, 59);
  });

  test("GET /apps/featured returns the featured apps, most popular first", async () => {
    const featured = await read<AppDto[]>("/apps/featured");
    assert.ok(featured.length >= 6);
    assert.ok(featured.every((app) => app.featured));
    assert.equal(featured[0]?.slug, "northwind-scribe");
  });

  test("GET /apps/categories returns all fifteen, each with its number of published apps", async () => {
    const categories = await read<CategoryDto[]>("/apps/categories");
    for (const category of categories) assertShape("CategoryDto", category);
    assert.equal(categories.length, 15);
    assert.equal(categories[0]?.category, "FRONT_OFFICE");
    for (const { category, appCount } of categories) {
      const page = await read<{ totalElements: number; content: unknown[] }>(`/apps?category=${category}&size=100`);
      assert.deepEqual([page.totalElements, page.content.length], [appCount, appCount], category);
    }
  });
});
