import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { type RunningWeb, startWeb, type WebBrowser } from "@ehr-marketplace/tests/support/web";

const path = "/bff/ehr/app-installations";
const [maxForwarded, maxWaiting] = [16, 200];
/** As many as use up all connections. */
const people = ["riverside-admin", "riverside-member", "operator", "northwind-developer"] as const;
type Persona = (typeof people)[number] | "two-practices";

describe("requests in progress", () => {
  const cleanUp = cleanUpAfter();
  const hanging: { incoming: IncomingMessage; response: ServerResponse }[] = [];
  const responded: string[] = [];
  let web: RunningWeb;
  let ehrUrl: string;
  before(async () => {
    const upstream = createServer((incoming, response) => {
      if (incoming.url?.includes("hangs")) {
        hanging.push({ incoming: incoming.resume(), response });
        return;
      }
      responded.push(incoming.url ?? "");
      response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(upstream, "listening");
    cleanUp(async () => {
      upstream.closeAllConnections();
      upstream.close();
    });
    ehrUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    // Longer than the test takes: what is slow stays so.
    web = await startWeb(cleanUp, { ehrUrl, environment: { REQUEST_TIMEOUT_MS: "60000" } });
  });

  const signedIn = async (persona: Persona): Promise<WebBrowser> => {
    const browser = web.openBrowser();
    await web.signIn(browser, persona);
    return browser;
  };
  const open = (
    { cookies }: WebBrowser,
    method: string,
    to: string,
    headers: Record<string, string>,
    url = web.url,
  ): ClientRequest =>
    request(`${url}${path}/${to}`, {
      method,
      agent: false,
      headers: { "x-requested-with": "ehr-marketplace", cookie: `session=${cookies.get("session")}`, ...headers },
    }).on("error", () => undefined);
  /** The first byte of a body. */
  const sendSlowly = (browser: WebBrowser, bytes = 2): ClientRequest => {
    const headers = { "content-type": "application/json", "content-length": String(bytes), expect: "100-continue" };
    const sent = open(browser, "PUT", "hangs/config", headers).once("continue", () => sent.write("{"));
    sent.flushHeaders();
    return sent;
  };
  const write = (browser: WebBrowser): Promise<Response> =>
    browser.call(`${path}/one/config`, { method: "PUT", body: "{}", headers: { "content-type": "application/json" } });

  test("of one person, whose bodies never end: others are served, and in the end more are refused", async () => {
    const [slow, other] = [await signedIn("riverside-admin"), await signedIn("two-practices")];
    const sent = Array.from({ length: maxForwarded + maxWaiting + 1 }, () => sendSlowly(slow));
    const [refused] = (await Promise.race(sent.map((each) => once(each, "response")))) as [IncomingMessage];
    assert.equal(refused.statusCode, 429);
    assert.equal(refused.headers["retry-after"], "1");
    assert.equal((await other.call(path)).status, 200);
    assert.equal((await write(other)).status, 200);
    assert.equal((await slow.call(path)).status, 200, "and the person still reads");

    for (const each of sent) each.destroy();
    await eventually("there is room for the person", 60_000, async () => (await write(slow)).status === 200);
  });

  test("of one person, whom the API doesn't answer: they count until it does, also if the browser has gone", async () => {
    const [slow, other] = [await signedIn("riverside-admin"), await signedIn("two-practices")];
    hanging.length = 0;
    const sent = Array.from({ length: maxForwarded }, () => open(slow, "GET", "hangs/installed", {}).end());
    await eventually("the person's share is forwarded", 60_000, () => hanging.length === maxForwarded);
    for (const each of sent) each.destroy();
    const waiting = slow.call(`${path}/later/installed`);
    assert.equal((await other.call(`${path}/sooner/installed`)).status, 200);
    for (const { response } of hanging) response.end("{}");
    assert.equal((await waiting).status, 200);
    assert.deepEqual(
      responded.slice(-2).map((url) => url.split("/").at(-2)),
      ["sooner", "later"],
    );
  });

  for (const [what, bytes, forwarded] of [
    ["small", 2, 0],
    ["large", 1_048_576, 8],
  ] as const) {
    test(`of several people, whose ${what} bodies never end: others still read and write`, async () => {
      hanging.length = 0;
      const browsers = await Promise.all(people.map((persona) => signedIn(persona)));
      const sent = browsers.map((browser) =>
        Array.from({ length: 2 * maxForwarded }, () => sendSlowly(browser, bytes)),
      );
      await Promise.all(sent.flat().map((each) => once(each, "continue")));
      await eventually("their share is forwarded", 60_000, () => hanging.length === forwarded);
      const other = await signedIn("two-practices");
      assert.equal((await other.call(path)).status, 200);
      assert.equal((await write(other)).status, 200);
      assert.equal(hanging.length, forwarded);
      for (const each of sent.flat()) each.destroy();
      for (const { response } of hanging) response.destroy();
    });
  }

  test("whose time is over before the API responds: its late responses hold no connection", async () => {
    hanging.length = 0;
    const { database } = web;
    const impatient = await startWeb(cleanUp, { ehrUrl, database, environment: { REQUEST_TIMEOUT_MS: "5000" } });
    const browsers = await Promise.all(people.map((persona) => signedIn(persona)));
    const sent = browsers.flatMap((browser) =>
      Array.from({ length: maxForwarded }, async () => {
        const [response] = await once(open(browser, "GET", "hangs/installed", {}, impatient.url).end(), "response");
        return (response as IncomingMessage).resume().statusCode;
      }),
    );
    assert.deepEqual(new Set(await Promise.all(sent)), new Set([503]));
    assert.ok(hanging.length > 0);
    for (const { response } of hanging) response.end("x".repeat(512 * 1_024));
    await eventually("the API has responded", 60_000, () =>
      hanging.every(({ response }) => response.writableFinished || response.destroyed),
    );
    const other = await signedIn("two-practices");
    await eventually("others are served", 60_000, async () => {
      const [response] = await once(open(other, "GET", "one/installed", {}, impatient.url).end(), "response");
      return (response as IncomingMessage).resume().statusCode === 200;
    });
  });
});
