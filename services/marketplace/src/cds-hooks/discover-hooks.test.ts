import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { before, describe, type TestContext, test } from "node:test";
import type { ListingCheck, ListingDto, ReviewDto } from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { createOutboundClient, type OutboundClient } from "@ehr-marketplace/outbound-http";
import { type CleanUp, cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { issue } from "@ehr-marketplace/test-kit/certificates";
import { assertShape } from "@ehr-marketplace/test-kit/contract";
import { drip, ok, onRequest, pour, type Receiver, startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { discoverHooks, findCdsDiscovery } from "./discover-hooks.ts";

const vendor = "northwind-developer";
const sandbox = "northwind-sandbox";
const networks = { VENDOR_ALLOWED_NETWORKS: "127.0.0.0/8" };

const listing = (...hooks: unknown[]): string =>
  ok(JSON.stringify({ services: hooks.map((hook, nth) => ({ hook, id: `service-${nth}`, description: "Helps" })) }));
const saying = (text: string) => (socket: Socket) => onRequest(socket, () => socket.write(text));

interface Sandbox extends MarketplaceWithCallers {
  publisher: Publisher<Persona>;
  /** Creates a listing whose draft names these hooks. */
  create(slug: string, cdsServicesUrl: string, ...hooks: string[]): Promise<void>;
  install(slug: string): Promise<Response>;
  /** The problems of the check that concern hooks. */
  findProblems(slug: string): Promise<ListingCheck["problems"]>;
  findCodes(slug: string): Promise<string[]>;
}

async function startSandbox(cleanUp: CleanUp, environment: Record<string, string> = networks): Promise<Sandbox> {
  const marketplace = await startMarketplaceWithCallers(cleanUp, environment);
  const publisher = createPublisher(marketplace.url, (who: Persona) => marketplace.callers.token(who), vendor);
  const body = { displayName: "Sandbox", kind: "SANDBOX", vendorSlug: "northwind-health" };
  const registered = await marketplace.requestAs("operator", `/admin/organisations/${sandbox}`, {
    method: "PUT",
    body,
  });
  assert.equal(registered.status, 201);
  const findProblems = async (slug: string): Promise<ListingCheck["problems"]> => {
    const response = await marketplace.requestAs(vendor, `/developer/apps/${slug}/check`);
    const check = (await response.json()) as ListingCheck;
    assertShape("ListingCheck", check);
    return check.problems.filter(({ code }) => code.startsWith("cds-"));
  };
  return {
    ...marketplace,
    publisher,
    async create(slug, cdsServicesUrl, ...hooks) {
      const extensionPoints = ["note-panel", ...hooks.map((hook) => `cds:${hook}`)];
      await publisher.create(slug, { extensionPoints, cdsServicesUrl });
    },
    install: (slug) =>
      marketplace.requestAs(vendor, `/developer/apps/${slug}/test-subscriptions`, { body: { orgAlias: sandbox } }),
    findProblems,
    findCodes: async (slug) => (await findProblems(slug)).map(({ pointer, code }) => `${pointer} ${code}`),
  };
}

describe("a draft that names hooks, installed in a sandbox organisation", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: Sandbox;
  before(async () => {
    marketplace = await startSandbox(cleanUp);
  });
  const serve = (t: TestContext, behave: (socket: Socket) => void): Promise<Receiver> =>
    startReceiver(cleanUpAfter(t), behave);

  test("has its services read, and each difference is a warning until it is corrected", async (t) => {
    const requests: string[] = [];
    let hooks = ["patient-view", "order-sign", "patient-view"];
    const { url, port } = await serve(t, (socket) =>
      onRequest(socket, (request) => {
        requests.push(request);
        socket.write(listing(...hooks));
      }),
    );
    await marketplace.create("hooked", url, "patient-view", "order-select");
    assert.deepEqual(await marketplace.findCodes("hooked"), ["/cdsServicesUrl cds-not-discovered"]);
    assert.equal(requests.length, 0, "the check requests nothing");

    assert.equal((await marketplace.install("hooked")).status, 201);
    assert.equal(requests.length, 1);
    assert.deepEqual(requests[0]?.split("\r\n"), [
      "GET /hooks HTTP/1.1",
      `host: 127.0.0.1:${port}`,
      "connection: keep-alive",
      "accept: application/json",
      "user-agent: EHR-Marketplace/1",
      "",
      "",
    ]);
    assert.deepEqual(await marketplace.findCodes("hooked"), [
      "/extensionPoints/2 cds-hook-missing",
      "/extensionPoints cds-hook-unlisted",
    ]);

    hooks = ["patient-view", "order-select"];
    assert.equal((await marketplace.install("hooked")).status, 200);
    assert.deepEqual(await marketplace.findCodes("hooked"), []);

    await marketplace.publisher.edit("hooked", { extensionPoints: ["cds:patient-view"] });
    assert.deepEqual(await marketplace.findCodes("hooked"), ["/extensionPoints cds-hook-unlisted"]);
    await marketplace.publisher.edit("hooked", { cdsServicesUrl: `${url}/moved` });
    assert.deepEqual(await marketplace.findCodes("hooked"), ["/cdsServicesUrl cds-not-discovered"]);
    assert.equal(requests.length, 2);
  });

  test("is submitted and approved with such warnings, which reviewers see", async () => {
    await marketplace.create("hooked-review", "https://quill.example/cds-services", "patient-view");
    const review = await marketplace.publisher.submit("hooked-review");
    const read = await marketplace.requestAs("operator", `/admin/reviews/${review}`);
    const { check } = (await read.json()) as ReviewDto & { check: ListingCheck };
    assert.ok(check.problems.some(({ code }) => code === "cds-not-discovered"));
    assert.equal((await marketplace.publisher.approve(review)).status, "approved");
  });

  test("without hooks, or without an installation, no services are requested", async (t) => {
    const { url, connections } = await serve(t, saying(listing()));
    await marketplace.create("hookless", url);
    assert.equal((await marketplace.install("hookless")).status, 201);
    await marketplace.create("hooked-wrongly", url, "patient-view");
    await marketplace.publisher.edit("hooked-wrongly", { category: "NONE" });
    assert.equal((await marketplace.install("hooked-wrongly")).status, 422);
    assert.equal(connections.length, 0);
    assert.deepEqual(await marketplace.findCodes("hookless"), []);
  });

  test("is installed while its server hangs, without a transaction or a lock until it responds", async (t) => {
    const respond: (() => void)[] = [];
    const { url } = await serve(t, (socket) =>
      onRequest(socket, () => {
        respond.push(() => socket.write(listing("patient-view")));
      }),
    );
    await marketplace.create("hooked-slowly", url, "patient-view");
    const installing = marketplace.install("hooked-slowly");
    await eventually("the services are requested", 30_000, () => respond.length === 1);
    const edited: ListingDto = await marketplace.publisher.edit("hooked-slowly", { summary: "Edited meanwhile" });
    assert.equal(edited.draft.summary, "Edited meanwhile");
    const { rows } = await withClient(marketplace.database.ownerUrl, (client) =>
      client.query(
        "select from pg_stat_activity where state like 'idle in transaction%' and datname = current_database()",
      ),
    );
    assert.equal(rows.length, 0);
    respond[0]?.();
    assert.equal((await installing).status, 201);
    assert.deepEqual(await marketplace.findCodes("hooked-slowly"), []);
  });

  const head = "HTTP/1.1 200 OK\r\n";
  const deep = "[".repeat(32_000);
  const hostile: Record<string, [behave: (socket: Socket) => void, failure: string]> = {
    "closes the connection": [(socket) => onRequest(socket, () => socket.end()), "headers: connection-closed"],
    "pours an endless body": [
      (socket) => onRequest(socket, () => socket.write(`${head}\r\n`, () => pour(socket, "[".repeat(65_536)))),
      "more than 64 KiB",
    ],
    "lists 100,000 services": [saying(listing(...Array.from({ length: 100_000 }, () => "patient-view"))), "64 KiB"],
    "nests its response": [saying(ok(`{"services":${deep}`)), "isn't JSON"],
    redirects: [
      saying("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"),
      "status 302, and redirects aren't followed",
    ],
    "has other types": [saying(ok('{"services":{"hook":"patient-view"}}')), "no list of services"],
    "has control characters": [saying(ok("\u001b[31m\u0000<script>")), "isn't JSON"],
  };
  for (const [what, [behave, failure]] of Object.entries(hostile)) {
    test(`is installed though its server ${what}, and a warning says why`, async (t) => {
      const { url } = await serve(t, behave);
      const slug = `hostile-${Object.keys(hostile).indexOf(what)}`;
      await marketplace.create(slug, url, "patient-view");
      assert.equal((await marketplace.install(slug)).status, 201);
      const [problem, ...others] = await marketplace.findProblems(slug);
      assert.deepEqual(others, []);
      assert.deepEqual([problem?.pointer, problem?.code], ["/cdsServicesUrl", "cds-discovery-failed"]);
      assert.ok(problem?.detail.includes(failure), problem?.detail);
    });
  }

  test("shows nothing of a response but hooks that extension points can name", async (t) => {
    const planted = [
      "\u001b[2Jplanted",
      "<b>planted</b>",
      "org.planted.hook",
      "planted\u202e",
      `${"planted-".repeat(20)}x`,
    ];
    const { url } = await serve(t, saying(listing("order-sign", ...planted, 7, null)));
    await marketplace.create("planted", url, "order-sign");
    assert.equal((await marketplace.install("planted")).status, 201);
    const stored = await withClient(marketplace.database.ownerUrl, (client) =>
      client.query("select hooks, failure from cds_discoveries where url = $1", [url]),
    );
    assert.deepEqual(stored.rows, [{ hooks: ["order-sign"], failure: null }]);
    assert.deepEqual(await marketplace.findProblems("planted"), []);
  });
});

test("a server on an address that vendors may not use isn't connected to", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const marketplace = await startSandbox(cleanUp, { VENDOR_ALLOWED_NETWORKS: "" });
  const { url, port, connections } = await startReceiver(cleanUp, saying(listing("patient-view")));
  for (const [slug, at, reason] of [
    ["local-http", url, "plain-http-not-allowed"],
    ["local-https", `https://127.0.0.1:${port}/`, "address-not-allowed"],
    ["private", "https://10.0.0.1/cds-services", "address-not-allowed"],
    ["metadata", "https://169.254.169.254/cds-services", "address-not-allowed"],
  ] as const) {
    await marketplace.create(slug, at, "patient-view");
    assert.equal((await marketplace.install(slug)).status, 201);
    const [problem] = await marketplace.findProblems(slug);
    assert.ok(problem?.detail.includes(`the request failed (address: ${reason})`), problem?.detail);
  }
  assert.equal(connections.length, 0);
});

describe("reading services", () => {
  const cleanUp = cleanUpAfter();
  const authority = issue({ names: [] });
  const allowedNetworks = ["127.0.0.0/8"];
  let marketplace: Sandbox;
  let discoveryClient: OutboundClient;
  let deps: { database: Awaited<ReturnType<typeof connectAsService<DB>>>["database"]; clock: () => Date };
  let appId: string;
  before(async () => {
    marketplace = await startSandbox(cleanUp);
    deps = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl);
    discoveryClient = createOutboundClient({
      timeoutMs: 3_000,
      trustedCertificates: authority.cert,
      resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    });
    cleanUp(() => discoveryClient.close());
    await marketplace.create("read-often", "https://good.example/cds-services", "patient-view");
    const { rows } = await withClient(marketplace.database.ownerUrl, (client) =>
      client.query<{ app_id: string }>("select app_id from listings where slug = 'read-often'"),
    );
    appId = rows[0]?.app_id ?? "";
  });
  const discover = async (cdsServicesUrl: string, at = new Date()) => {
    const draft = { extensionPoints: ["cds:patient-view"], cdsServicesUrl };
    await discoverHooks(
      { database: deps.database, clock: () => at, discoveryClient, allowedNetworks },
      { appId, draft },
    );
    return findCdsDiscovery(deps.database, appId);
  };

  test("over TLS needs a certificate that is trusted for the server's name", async (t) => {
    const tls = issue({ names: ["good.example"], by: authority });
    const behave = saying(listing("patient-view"));
    const { port } = await startReceiver(cleanUpAfter(t), behave, { tls });
    const [good, bad] = ["good", "bad"].map((name) => `https://${name}.example:${port}/cds-services`) as [
      string,
      string,
    ];
    const at = new Date();
    assert.deepEqual(await discover(good, at), { url: good, at: at.toISOString(), hooks: ["patient-view"] });
    const failure = "the request failed (tls: certificate-wrong-name)";
    assert.deepEqual(await discover(bad, at), { url: bad, at: at.toISOString(), failure });
  });

  test("from a server that never responds, or a byte at a time, ends at the deadline", async (t) => {
    for (const [behave, stage] of [
      [(socket: Socket) => void socket.resume(), "headers"],
      [(socket: Socket) => onRequest(socket, () => drip(socket, "HTTP/1.1 200 OK")), "headers"],
      [saying("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), "body"],
    ] as const) {
      const { url } = await startReceiver(cleanUpAfter(t), behave);
      const at = new Date();
      const failure = `the request failed (${stage}: timed-out)`;
      assert.deepEqual(await discover(url, at), { url, at: at.toISOString(), failure });
    }
  });

  test("twice at a time, the result of the later request stays, whichever comes last", async (t) => {
    const { url } = await startReceiver(cleanUpAfter(t), saying(listing("order-sign")));
    const later = new Date(Date.now() + 60_000);
    const expected = { url, at: later.toISOString(), hooks: ["order-sign"] };
    assert.deepEqual(await discover(url, later), expected);
    assert.deepEqual(await discover(`${url}/earlier`, new Date()), expected);
  });

  test("stores no other hooks than extension points can name, and no more than 100, whatever is inserted", async () => {
    const insert = (values: string): Promise<unknown> =>
      withClient(marketplace.database.serviceUrl, (client) =>
        client.query(`insert into cds_discoveries (app_id, url, requested_at, hooks, failure)
          select app_id, 'https://a.example', now(), ${values} from listings where slug = 'northwind-scribe'`),
      );
    for (const values of [
      "null, null",
      "'{a}', 'both'",
      "'{Planted}', null",
      "array['a b'], null",
      "array['a', null], null",
      "array[e'a\\n'], null",
      "array_fill('a'::text, array[101]), null",
      "null, e'\\x1b[2J'",
      "null, repeat('x', 201)",
    ]) {
      await assert.rejects(insert(values), /check constraint/, values);
    }
    await insert("'{}', null");
  });
});
