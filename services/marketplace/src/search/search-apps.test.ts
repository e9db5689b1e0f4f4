import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto, FoundAppDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import { type RunningMarketplace, startMarketplace } from "@ehr-marketplace/tests/support/marketplace";

describe("GET /apps/search", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: RunningMarketplace;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "demo");
    await withClient(database.ownerUrl, async (client) => {
      const texts: [string, string, string, string][] = [
        ["in-name", "Quokka Board", "A tidy board.", "Plain words."],
        ["in-summary", "Board Two", "Brings a quokka along.", "Plain words."],
        ["in-description", "Board Three", "A tidy board.", "Mentions the quokka once."],
      ];
      for (const [slug, name, summary, description] of texts) {
        await client.query(
          `insert into apps (id, slug, vendor_id, category, status, name, summary, description, icon_url, version, published_at)
           select gen_random_uuid(), $1, id, 'FINANCIAL', 'published', $2, $3, $4, 'https://icons.example/x.svg', '1.0.0', now()
           from vendors where slug = 'lumen-medical'`,
          [slug, name, summary, description],
        );
      }
    });
    marketplace = await startMarketplace(cleanUp, database.serviceUrl);
  });

  async function search(query: string): Promise<AppDto[]> {
    const response = await marketplace.get(`/apps/search?${query}`);
    assert.equal(response.status, 200, await response.clone().text());
    const apps = (await response.json()) as AppDto[];
    for (const app of apps) assertShape("FoundAppDto", app);
    return apps;
  }
  const slugs = (apps: AppDto[]): string[] => apps.map((app) => app.slug);
  const first = async (q: string): Promise<string | undefined> => (await search(`q=${encodeURIComponent(q)}`))[0]?.slug;

  test("an exact name, in any case, is the first result", async () => {
    assert.equal(await first("Northwind Scribe"), "northwind-scribe");
    assert.equal(await first("lumen SCHEDULE"), "lumen-schedule");
  });

  test("ranks a match in the name above one in the summary, and that above one in the description", async () => {
    assert.deepEqual(slugs(await search("q=quokka")), ["in-name", "in-summary", "in-description"]);
  });

  for (const [typed, meant] of [
    ["northwnd scrib", "northwind-scribe"],
    ["nrothwind scribe", "northwind-scribe"],
    ["lumen schedulee", "lumen-schedule"],
    ["quoka", "in-name"],
    ["cafe intake", "cafe-intake"],
    ["ZURICH", "zurich-rounds"],
    ["senal", "senal-messages"],
    ["northw", "northwind-scribe"],
    ["lumen sch", "lumen-schedule"],
  ] as const) {
    test(`"${typed}" finds ${meant}`, async () => {
      assert.equal(await first(typed), meant);
    });
  }

  test("finds words that were written as one or as two, as a plural, or with another spelling", async () => {
    for (const [query, slug] of [
      ["bloodpressure", "cuffline"],
      ["blood-pressure", "cuffline"],
      ["tele health", "northwind-visits"],
      ["prior authorisations", "gullhaven-prior-auth"],
      ["odontograms", "molar-map"],
    ] as const) {
      assert.equal(await first(query), slug, query);
    }
  });

  test("text without a known word is compared with the names of the apps", async () => {
    assert.equal(await first("quokkabord"), "in-name");
  });

  test("X-Did-You-Mean has the text that was searched for instead of a typo, percent-encoded", async () => {
    const meant = async (query: string): Promise<string | null> =>
      (await marketplace.get(`/apps/search?q=${encodeURIComponent(query)}`)).headers.get("x-did-you-mean");
    assert.equal(await meant("telehelth"), "telehealth");
    assert.equal(await meant("Cardiolgy for kids"), "cardiology%20for%20kids");
    assert.equal(await meant("telehealth"), null);
    assert.equal(await meant("teleh"), null, "an unfinished word isn't a typo");
    assert.equal(await meant("zzxqvkkw"), null);
  });

  test("X-Total-Count has the number of all matches, and Link leads through the pages, each app once", async () => {
    const found: string[] = [];
    let path = "/api/v1/apps/search?q=blood+pressure&limit=5&highlight=true";
    let pages = 0;
    for (let next: string | undefined = path; next !== undefined; pages++) {
      const response = await fetch(`${marketplace.url}${next}`);
      const apps = (await response.json()) as AppDto[];
      found.push(...slugs(apps));
      const link = response.headers.get("link");
      next = /^<([^>]+)>; rel="next"$/.exec(link ?? "")?.[1];
      path = next ?? path;
      if (pages === 0) assert.ok(Number(response.headers.get("x-total-count")) > 5);
      if (next === undefined) assert.equal(Number(response.headers.get("x-total-count")), found.length);
    }
    assert.ok(pages > 1);
    assert.equal(new Set(found).size, found.length);
    const whole = await search("q=blood+pressure&limit=100");
    assert.deepEqual(found, slugs(whole));
    assert.deepEqual(await search("q=blood+pressure&page=1000"), []);
    const category = await marketplace.get("/apps/search?category=DOCUMENTATION&limit=3&page=1");
    assert.equal(category.headers.get("x-total-count"), "4");
    assert.equal(((await category.json()) as AppDto[]).length, 1);
  });

  test("highlight=true marks what matched, with accents and in other words; without it there are no highlights", async () => {
    const highlightsOf = async (query: string, slug: string): Promise<FoundAppDto["highlights"]> => {
      const found = (await search(`highlight=true&q=${encodeURIComponent(query)}`)) as FoundAppDto[];
      return found.find((app) => app.slug === slug)?.highlights;
    };
    const matches = (parts: { text: string; match: boolean }[] | undefined): string[] | undefined =>
      parts?.filter(({ match }) => match).map(({ text }) => text);
    const visits = await highlightsOf("telehealth", "northwind-visits");
    assert.deepEqual(matches(visits?.summary), ["Video visits"]);
    assert.equal(
      visits?.summary?.map(({ text }) => text).join(""),
      (await search("q=telehealth")).find(({ slug }) => slug === "northwind-visits")?.summary,
    );
    assert.deepEqual(matches((await highlightsOf("cafe", "cafe-intake"))?.name), ["Café"]);
    assert.deepEqual(matches((await highlightsOf("quokka", "in-description"))?.description), ["quokka"]);
    assert.equal((await highlightsOf("quokka", "in-description"))?.name, undefined);
    assert.ok((await search("q=quokka")).every((app) => !("highlights" in app)));
  });

  test("Link repeats only known parameters, because the response is cached for everyone", async () => {
    const response = await marketplace.get(`/apps/search?q=blood+pressure&limit=1&x=${"~".repeat(2_000)}`);
    assert.equal(
      response.headers.get("link"),
      '</api/v1/apps/search?q=blood+pressure&limit=1&highlight=false&page=1>; rel="next"',
    );
  });

  test("Link leads to the categories if the category is unknown", async () => {
    for (const query of ["category=NO_SUCH", "q=scribe&category=NO_SUCH"]) {
      const response = await marketplace.get(`/apps/search?${query}`);
      assert.match(response.headers.get("link") ?? "", /^<\/api\/v1\/apps\/categories>; rel="help"/);
    }
    assert.equal((await marketplace.get("/apps/search?q=zzxqvkkw&category=FINANCIAL")).headers.get("link"), null);
  });

  test("highlight=true has at most 20 apps on a page", async () => {
    assert.equal((await search("q=patient&limit=100&highlight=true")).length, 20);
  });

  test("finds apps by two letters", async () => {
    assert.ok(slugs(await search("q=qu")).includes("in-name"));
  });

  test("vendor and category are searched as well", async () => {
    assert.ok((await search("q=lumen+medical&limit=100")).some((app) => app.vendor.slug === "lumen-medical"));
    assert.ok((await search("q=population+health&limit=100")).some((app) => app.category === "POPULATION_HEALTH"));
  });

  test("orders apps of equal relevance by popularity", async () => {
    const database = await cloneDatabase(cleanUp, "empty");
    await withClient(database.ownerUrl, async (client) => {
      await client.query("insert into vendors (id, slug, name) values (gen_random_uuid(), 'twins', 'Twins')");
      await client.query(`
        insert into apps (id, slug, vendor_id, category, status, name, summary, description, icon_url, version, published_at)
        select gen_random_uuid(), 'twin-' || n, vendors.id, 'FINANCIAL', 'published', 'Twin app', 's', 'd', 'https://i.example/x', '1', now()
        from vendors, generate_series(1, 9) n`);
      await client.query(`update app_popularity p set popularity = substr(slug, 6)::int * 7 % 10
         from app_listings l where l.app_id = p.app_id`);
    });
    const twins = await startMarketplace(cleanUp, database.serviceUrl);
    const found = (await (await twins.get("/apps/search?q=twin")).json()) as AppDto[];
    assert.deepEqual(
      slugs(found),
      [7, 4, 1, 8, 5, 2, 9, 6, 3].map((n) => `twin-${n}`),
    );
  });

  test("category alone lists its most popular apps, and narrows a search", async () => {
    const scribes = await search("category=DOCUMENTATION");
    assert.equal(scribes.length, 4);
    assert.equal(scribes[0]?.slug, "northwind-scribe");
    assert.ok(slugs(await search("q=northwind&category=DOCUMENTATION")).includes("northwind-scribe"));
    assert.deepEqual(
      await search("q=northwind+scribe&category=FINANCIAL&limit=100").then((apps) =>
        apps.filter((app) => app.category !== "FINANCIAL"),
      ),
      [],
    );
  });

  test("an unknown category, nonsense and mere punctuation find nothing", async () => {
    for (const query of ["category=NO_SUCH", "q=scribe&category=NO_SUCH", "q=zzxqvkkw", "q=%21%3F%26", "q=%E2%80%A6"]) {
      assert.deepEqual(await search(query), [], query);
    }
  });

  test("limit defaults to 20, is capped at 100, and bounds the response", async () => {
    assert.equal((await search("q=a")).length, 20);
    assert.equal((await search("q=northwind&limit=2")).length, 2);
    assert.ok((await search("q=a&limit=100000")).length > 20);
  });

  test("q may be absent or blank only with category", async () => {
    for (const query of ["", "q=", "q=%20%20", "limit=5"]) {
      const problem = await assertProblem(await marketplace.get(`/apps/search?${query}`), 400, "invalid-request");
      assert.equal((problem["errors"] as { pointer: string }[])[0]?.pointer, "/query/q");
    }
  });

  test("q of 200 characters is served, of 201 is 400, counted as characters and not as bytes", async () => {
    assert.equal((await marketplace.get(`/apps/search?q=${encodeURIComponent("é".repeat(200))}`)).status, 200);
    assert.equal((await marketplace.get(`/apps/search?q=${encodeURIComponent("😀".repeat(200))}`)).status, 200);
    await assertProblem(await marketplace.get(`/apps/search?q=${"e".repeat(201)}`), 400, "invalid-request");
  });

  for (const query of [
    "q=a&limit=0",
    "q=a&limit=-1",
    "q=a&limit=ten",
    "q=a&q=b",
    "q=a&limit=1&limit=2",
    "q=a%00b",
    "q=a&page=-1",
    "q=a&highlight=maybe",
  ]) {
    test(`?${query} is 400`, async () => {
      await assertProblem(await marketplace.get(`/apps/search?${query}`), 400, "invalid-request");
    });
  }
});
