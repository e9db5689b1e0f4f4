import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto, AppPage } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import { type RunningMarketplace, startMarketplace } from "@ehr-marketplace/tests/support/marketplace";

describe("GET /apps", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: RunningMarketplace;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "demo");
    marketplace = await startMarketplace(cleanUp, database.serviceUrl);
  });

  async function page(query = ""): Promise<AppPage> {
    const response = await marketplace.get(`/apps${query}`);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as AppPage;
  }
  const names = (of: AppPage): string[] => of.content.map((app) => app.name);

  test("returns the first 20 apps by name without parameters, in the shape of the contract", async () => {
    const first = await page();
    assertShape("AppPage", first);
    assert.equal(first.content.length, 20);
    const { content: _content, ...envelope } = first;
    const sort = { sorted: true, unsorted: false, empty: false };
    assert.deepEqual(envelope, {
      pageable: { pageNumber: 0, pageSize: 20, offset: 0, paged: true, unpaged: false, sort },
      totalElements: 60,
      totalPages: 3,
      last: false,
      first: true,
      size: 20,
      number: 0,
      numberOfElements: 20,
      sort,
      empty: false,
    });
    for (const app of first.content) assertShape("AppDto", app);
  });

  test("the last page says so, and a page beyond it is empty with the same totals", async () => {
    const last = await page("?page=2");
    assert.deepEqual([last.last, last.first, last.numberOfElements, last.pageable.offset], [true, false, 20, 40]);
    const beyond = await page("?page=3");
    assert.deepEqual([beyond.empty, beyond.last, beyond.totalElements, beyond.totalPages], [true, true, 60, 3]);
    for (const far of ["2147483647", "9223372036854775808", "9".repeat(400)]) {
      assert.deepEqual((await page(`?page=${far}&size=100`)).content, []);
    }
  });

  test("a size above 100 is served as 100", async () => {
    for (const size of ["101", "5000", "9".repeat(30)]) {
      const all = await page(`?size=${size}`);
      assert.deepEqual([all.size, all.pageable.pageSize, all.content.length], [100, 100, 60]);
    }
  });

  test("category filters, counts and pages", async () => {
    const found = await page("?category=DOCUMENTATION&size=3");
    assert.deepEqual([found.totalElements, found.totalPages, found.content.length], [4, 2, 3]);
    assert.ok(found.content.every((app) => app.category === "DOCUMENTATION"));
    const beyond = await marketplace.get("/apps?category=DOCUMENTATION&page=9");
    assert.deepEqual([((await beyond.json()) as AppPage).empty, beyond.headers.get("link")], [true, null]);
  });

  test("a category is found in lower case too, by /apps and by /apps/search", async () => {
    for (const path of ["/apps?", "/apps/search?", "/apps/search?q=scribe&"]) {
      const [upper, lower] = ["DOCUMENTATION", "documentation"].map((category) =>
        marketplace.get(`${path}category=${category}`).then(async (response) => {
          assert.equal(response.headers.get("link"), null, path);
          return response.text();
        }),
      );
      assert.equal(await lower, await upper, path);
      assert.match(String(await lower), /"category":"DOCUMENTATION"/, path);
    }
  });

  for (const category of ["NO_SUCH", "no_such", "'; drop table apps; --", "X".repeat(300)]) {
    test(`the unknown category ${JSON.stringify(category)} is an empty page, which links to the list of categories`, async () => {
      const response = await marketplace.get(`/apps?category=${encodeURIComponent(category)}`);
      const found = (await response.json()) as AppPage;
      const [, target = "", rel, title] =
        /^<(.*)>; rel="(.*)"; title="(.*)"$/.exec(response.headers.get("link") ?? "") ?? [];
      assert.deepEqual([rel, title], ["help", "Unknown category: see the list of categories"]);
      const categories = (await (await fetch(new URL(target, response.url))).json()) as { category: string }[];
      assert.ok(categories.some((each) => each.category === "DOCUMENTATION"));
      assert.deepEqual(
        [found.empty, found.totalElements, found.totalPages, found.first, found.last],
        [true, 0, 0, true, true],
      );
    });
  }

  test("vendor filters, counts and pages, alone and with a category", async () => {
    const { content } = await page("?size=100&sort=publishedAt,desc");
    const ofVendor = content.filter(({ vendor }) => vendor.slug === "northwind-health");
    assert.ok(ofVendor.length > 1 && ofVendor.length < content.length);
    const found = await page("?vendor=northwind-health&size=100&sort=publishedAt,desc");
    assert.deepEqual(found.content, ofVendor);
    assert.equal(found.totalElements, ofVendor.length);
    const second = await page("?vendor=northwind-health&size=1&page=1&sort=publishedAt,desc");
    assert.deepEqual([second.content, second.totalPages], [[ofVendor[1]], ofVendor.length]);
    const popular = await page("?vendor=northwind-health&sort=popularity,desc");
    assert.deepEqual([popular.content[0]?.slug, popular.totalElements], ["northwind-scribe", ofVendor.length]);

    const documentation = ofVendor.filter(({ category }) => category === "DOCUMENTATION");
    for (const category of ["DOCUMENTATION", "documentation"]) {
      const combined = await page(`?vendor=northwind-health&category=${category}&sort=publishedAt,desc`);
      assert.deepEqual([combined.content, combined.totalElements], [documentation, documentation.length]);
    }
    assert.ok(documentation.length >= 1 && documentation.length < ofVendor.length);
    const links = ["FINANCIAL", "NO_SUCH"].map(async (category) =>
      (await marketplace.get(`/apps?vendor=northwind-health&page=9&category=${category}`)).headers.get("link"),
    );
    assert.match((await Promise.all(links)).join("|"), /^\|<.*rel="help"/);
  });

  for (const vendor of ["no-such-vendor", "NORTHWIND-HEALTH", "northwind_health", "x".repeat(4_000)]) {
    test(`the unknown vendor ${JSON.stringify(vendor.slice(0, 20))} is an empty page`, async () => {
      const found = await page(`?vendor=${vendor}`);
      assert.deepEqual([found.content, found.totalElements, found.first, found.last], [[], 0, true, true]);
      assert.deepEqual((await page(`?vendor=${vendor}&category=DOCUMENTATION`)).totalElements, 0);
    });
  }

  test("a blank vendor counts as absent", async () => {
    assert.deepEqual(await page("?vendor="), await page());
  });

  const collator = new Intl.Collator("und", { sensitivity: "accent" });
  const orders: Record<string, (a: AppDto, b: AppDto) => number> = {
    name: (a, b) => collator.compare(a.name, b.name),
    category: (a, b) => (a.category < b.category ? -1 : a.category > b.category ? 1 : 0),
    publishedAt: (a, b) => a.publishedAt.localeCompare(b.publishedAt),
    updatedAt: (a, b) => a.updatedAt.localeCompare(b.updatedAt),
  };
  for (const [property, order] of Object.entries(orders)) {
    test(`sort=${property} sorts ascending unless desc is requested; the direction is case-insensitive`, async () => {
      const upwards = await page(`?size=100&sort=${property}`);
      const byId = (a: AppDto, b: AppDto): number => (a.id < b.id ? -1 : 1);
      const expected = upwards.content.toSorted((a, b) => order(a, b) || byId(a, b)).map((app) => app.slug);
      assert.deepEqual(
        upwards.content.map((app) => app.slug),
        expected,
      );
      for (const direction of ["asc", "ASC", "Asc"]) {
        assert.deepEqual(names(await page(`?size=100&sort=${property},${direction}`)), names(upwards));
      }
      for (const direction of ["desc", "DESC", "Desc"]) {
        assert.deepEqual(names(await page(`?size=100&sort=${property},${direction}`)), names(upwards).toReversed());
      }
    });
  }

  test("sort=popularity,desc begins with the most popular app", async () => {
    assert.equal((await page("?sort=popularity,desc")).content[0]?.slug, "northwind-scribe");
    assert.equal((await page("?size=100&sort=popularity")).content.at(-1)?.slug, "northwind-scribe");
  });

  const invalid = [
    "page=-1",
    "page=1.5",
    "page=abc",
    "page=0x10",
    "page=1e2",
    "page=%201",
    "page=1&page=2",
    "size=0",
    "size=-5",
    "size=many",
    "size=10&size=10",
    "sort=price",
    "sort=name,up",
    "sort=name,",
    "sort=NAME",
    "sort=name,asc,desc",
    "sort=name&sort=category",
    "category=A&category=B",
    "category=%00",
    "vendor=a&vendor=b",
    "vendor=%00",
  ];
  for (const query of invalid) {
    test(`?${query} is 400 and points at the parameter`, async () => {
      const problem = await assertProblem(await marketplace.get(`/apps?${query}`), 400, "invalid-request");
      const [error] = problem["errors"] as { pointer: string }[];
      assert.ok(error);
      assert.match(error.pointer, query.includes("%00") ? /^\/query$/ : new RegExp(`^/query/${query.split("=")[0]}$`));
    });
  }

  test("a refused sort returns the allowed ones", async () => {
    const { detail } = await assertProblem(await marketplace.get("/apps?sort=name,up"), 400, "invalid-request");
    assert.equal(
      detail,
      "/query/sort must be one of: name, category, publishedAt, updatedAt, popularity; alone, or followed by ,asc or ,desc.",
    );
  });

  test("unknown parameters are ignored", async () => {
    assert.deepEqual(await page("?utm_source=mail&page[]=3&size[x]=1"), await page());
  });
});
