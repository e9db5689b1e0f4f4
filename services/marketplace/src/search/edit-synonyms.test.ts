import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto, AuditPage, SearchSynonyms, SynonymGroup } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";

describe("The synonyms of search", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    // The largest set takes seconds to store on a busy machine.
    marketplace = await startMarketplaceWithCallers(cleanUp, { STATEMENT_TIMEOUT_MS: "60000" });
  });
  const path = "/admin/search-synonyms";
  async function read(): Promise<{ synonyms: SynonymGroup[]; etag: string }> {
    const response = await marketplace.requestAs("operator", path);
    assert.equal(response.status, 200);
    const body = (await response.json()) as SearchSynonyms;
    assertShape("SearchSynonyms", body);
    return { ...body, etag: response.headers.get("etag") ?? "" };
  }
  const put = (synonyms: unknown, etag?: string): Promise<Response> =>
    marketplace.requestAs("operator", path, {
      method: "PUT",
      body: { synonyms },
      headers: etag === undefined ? {} : { "if-match": etag },
    });
  const search = async (query: string): Promise<string[]> => {
    const response = await marketplace.get(`/apps/search?q=${encodeURIComponent(query)}`);
    return ((await response.json()) as AppDto[]).map(({ slug }) => slug);
  };
  const first = async (query: string): Promise<string | undefined> => (await search(query))[0];
  const changes = async (): Promise<AuditPage["items"]> => {
    const response = await marketplace.requestAs("operator", "/admin/audit?action=search-synonyms.change");
    return ((await response.json()) as AuditPage).items;
  };

  test("a set for the field is there from the start", async () => {
    const { synonyms } = await read();
    assert.ok(synonyms.length > 200);
    assert.ok(
      synonyms.some((group) => group.synonyms.includes("telehealth") && group.synonyms.includes("video visit")),
    );
  });

  test("a change takes effect at once, also for a response that was cached, and for typos of a new term", async () => {
    assert.equal(await first("quokkagram"), undefined);
    const { synonyms, etag } = await read();
    const added = { synonyms: ["quokkagram", "twelve-lead"] };
    const response = await put([...synonyms, added], etag);
    assert.equal(response.status, 200, await response.clone().text());
    assert.notEqual(response.headers.get("etag"), etag);
    assert.deepEqual((await read()).synonyms.at(-1), added);
    await eventually("the cached response is dropped", 30_000, async () => {
      return (await first("quokkagram")) === "lumen-twelve-lead";
    });
    assert.equal(await first("quokagram"), "lumen-twelve-lead");
    assert.equal(await first("quokkagrams"), "lumen-twelve-lead");
  });

  test("a term with synonyms means them, and they don't mean it", async () => {
    const { synonyms, etag } = await read();
    const oneWay = { term: "warbler", synonyms: ["odontogram"] };
    assert.equal((await put([...synonyms, oneWay], etag)).status, 200);
    const both = ["fax-warbler", "molar-map"];
    await eventually("the term finds both apps", 30_000, async () => {
      const found = await search("warbler");
      return both.every((slug) => found.includes(slug));
    });
    assert.ok(!(await search("odontogram")).includes("fax-warbler"));
    assert.equal((await put(synonyms, (await read()).etag)).status, 200);
    assert.equal((await read()).etag, etag, "the same synonyms have the same tag");
  });

  test("the audit log has what was added and what was removed, and nothing if nothing changed", async () => {
    const earlier = await changes();
    const { synonyms, etag } = await read();
    const [removed, ...kept] = synonyms;
    assert.equal((await put(synonyms, etag)).status, 200);
    assert.equal((await changes()).length, earlier.length);
    const added = { term: "bilby", synonyms: ["fax"] };
    assert.equal((await put([...kept, added], etag)).status, 200);
    const entry = (await changes())[0];
    assert.deepEqual([entry?.before, entry?.after], [{ removed: [removed] }, { added: [added] }]);
  });

  test("an organisation with the alias marketplace reads its own audit entries, and none of the synonyms", async () => {
    const registered = await marketplace.requestAs("operator", "/admin/organisations/marketplace", {
      method: "PUT",
      body: { displayName: "The Marketplace Clinic" },
    });
    assert.equal(registered.status, 201, await registered.clone().text());
    const { synonyms, etag } = await read();
    assert.equal((await put([...synonyms, { term: "numbat", synonyms: ["fax"] }], etag)).status, 200);
    const token = await signToken(marketplace.callers, { organization: { marketplace: { roles: ["org-admin"] } } });
    const response = await sendApiRequest(marketplace.url, "/organisations/marketplace/audit", token);
    assert.equal(response.status, 200);
    const { items } = (await response.json()) as AuditPage;
    assert.deepEqual(
      items.map(({ action }) => action),
      ["organisation.register"],
    );
  });

  test("another's change isn't overwritten: 412 with an outdated If-Match, 428 without one", async () => {
    const { synonyms, etag } = await read();
    await assertProblem(await put(synonyms, '"outdated"'), 412, "search-synonyms-changed");
    await assertProblem(await put(synonyms), 428, "precondition-required");
    await assertProblem(await put("invalid too"), 428, "precondition-required");
    const both = await Promise.all(["one", "two"].map((term) => put([...synonyms, { term, synonyms: ["fax"] }], etag)));
    assert.deepEqual(both.map(({ status }) => String(status)).toSorted(), ["200", "412"]);
  });

  test("an If-Match that isn't one quoted tag is 400: the client would repeat it after 412", async () => {
    const { synonyms, etag } = await read();
    for (const wrong of [etag.slice(1, -1), etag.slice(1), `W/${etag.slice(1, -1)}`, "*", `${etag}, ${etag}`]) {
      const { errors } = await assertProblem(await put(synonyms, wrong), 400, "invalid-request");
      const detail = "must be an ETag in double quotes, as the response had it";
      assert.deepEqual(errors, [{ pointer: "/headers/if-match", detail }], wrong);
    }
    assert.equal((await put(synonyms, `W/${etag}`)).status, 200);
  });

  for (const [what, synonyms] of [
    ["no synonyms", [{ synonyms: [] }]],
    ["an empty term", [{ synonyms: ["a", ""] }]],
    ["a term of 81 characters", [{ synonyms: ["a", "x".repeat(81)] }]],
    ["an unknown field", [{ synonyms: ["a", "b"], weight: 2 }]],
    ["half of a surrogate pair", [{ synonyms: ["a", "\ud800"] }]],
    ["NUL", [{ synonyms: ["a", "b\u0000"] }]],
    ["3,001 groups", Array.from({ length: 3_001 }, () => ({ synonyms: ["a", "b"] }))],
    ["text instead of groups", ["telehealth, video visit"]],
  ] as const) {
    test(`${what} is 400`, async () => {
      await assertProblem(await put(synonyms, (await read()).etag), 400, "invalid-request");
    });
  }

  test("a single word without a term is 400, with the pointer of each such group", async () => {
    const groups = [{ synonyms: ["alone"] }, { term: "a", synonyms: ["b"] }, { synonyms: ["lonely"] }];
    const { errors } = await assertProblem(await put(groups, (await read()).etag), 400, "invalid-request");
    const detail = "must have at least 2 items, unless term is given";
    assert.deepEqual(errors, [
      { pointer: "/body/synonyms/0/synonyms", detail },
      { pointer: "/body/synonyms/2/synonyms", detail },
    ]);
  });

  test("terms without a letter, and the same term twice, are stored and do no harm", async () => {
    const { synonyms, etag } = await read();
    const odd = [
      { synonyms: ["…", "!"] },
      { term: "#", synonyms: ["fax"] },
      { synonyms: ["fax", "Fax", "faxes", "FAX!"] },
    ];
    assert.equal((await put([...synonyms, ...odd], etag)).status, 200);
    assert.equal(await first("fax"), "fax-warbler");
  });

  test("a set as large as a request may be is stored, and can be searched with", async (t) => {
    const { etag } = await read();
    const largest = Array.from({ length: 1_000 }, (_, group) => ({
      synonyms: ["fax", ...Array.from({ length: 20 }, (__, term) => `g${group} t${term}`)],
    }));
    const began = performance.now();
    const response = await put(largest, etag);
    assert.equal(response.status, 200, await response.clone().text());
    t.diagnostic(`stored in ${Math.round(performance.now() - began)} ms`);
    assert.equal(await first("g999 t1"), "fax-warbler");
    assert.equal(await first("fax"), "fax-warbler");
  });
});
