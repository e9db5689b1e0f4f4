import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { createServer } from "node:https";
import { before, describe, test } from "node:test";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { issue } from "@ehr-marketplace/test-kit/certificates";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { choosePersona, type OpenedConsole, openConsole } from "@ehr-marketplace/tests/support/console";
import { sendJson, startMarketplaceStub } from "@ehr-marketplace/tests/support/marketplace-stub";
import { type RunningWeb, startWeb } from "@ehr-marketplace/tests/support/web";
import type { Browser } from "playwright-core";

const [ownHost, siblingHost, foreignHost] = ["apps.practice.test", "files.practice.test", "www.attacker.test"];

/** A page that tries everything a page can with another origin, and says what it could read. */
const attackPage = (target: string): string => `<!doctype html><title>trying</title><script>
const target = ${JSON.stringify(target)};
const attempt = (path, options) => fetch(target + path, { credentials: "include", ...options })
  .then((response) => response.type === "opaque" ? "nothing" : response.text(), () => "nothing");
const json = { method: "POST", body: "{}" };
Promise.all([
  attempt("/bff/session"),
  attempt("/bff/session", { mode: "no-cors" }),
  attempt("/bff/session", { headers: { "x-requested-with": "ehr-marketplace" } }),
  attempt("/bff/marketplace/subscriptions", { ...json, mode: "no-cors", headers: { "content-type": "text/plain" } }),
  attempt("/bff/marketplace/subscriptions", { ...json, headers: { "x-requested-with": "ehr-marketplace" } }),
  attempt("/logout", { method: "POST", mode: "no-cors", body: new URLSearchParams({ everywhere: "true" }) }),
]).then((read) => { document.title = read.join(","); });
</script><iframe src="${target}/console"></iframe><iframe src="${target}/apps"></iframe>`;

const formPage = (target: string): string => `<!doctype html><title>form</title>
<form method="post" action="${target}/logout"><input name="everywhere" value="true"></form>
<script>document.forms[0].submit()</script>`;

/** Three sites by name, with TLS as in production. Ports of the loopback address would count as one site. */
describe("pages of other sites, in a browser", () => {
  const cleanUp = cleanUpAfter();
  const written: string[] = [];
  let browser: Browser;
  let port: number;
  let web: RunningWeb;
  const urlOf = (host: string): string => `https://${host}:${port}`;
  before(async () => {
    const webPort = await freePort();
    port = await freePort();
    const publicUrl = urlOf(ownHost);
    const provider = await startIdentityProvider({ port: await freePort(), webUrl: publicUrl });
    cleanUp(() => provider.stop());
    const stub = await startMarketplaceStub(cleanUp, (incoming, response) => {
      if (incoming.method !== "GET") written.push(`${incoming.method} ${incoming.url}`);
      // Screens say so in their frame, whatever it was that they would have read.
      sendJson(response, 503, {});
    });
    const { origin } = new URL(stub.url);
    const environment = { PUBLIC_URL: publicUrl };
    web = await startWeb(cleanUp, {
      marketplaceUrl: origin,
      ehrUrl: origin,
      identityProvider: provider,
      port: webPort,
      environment,
    });
    const { cert, key } = issue({ names: [ownHost, siblingHost, foreignHost] });
    const proxy = createServer({ cert, key }, (incoming, response) => {
      const host = incoming.headers.host ?? "";
      if (!host.startsWith(ownHost)) {
        const write = incoming.url === "/form" ? formPage : attackPage;
        response.writeHead(200, { "content-type": "text/html" }).end(write(publicUrl));
        return;
      }
      const { method, url: path, headers } = incoming;
      // A connection of its own: one that is kept may be closed by the web just when it is used again.
      const target = { host: "127.0.0.1", port: webPort, agent: false };
      const forwarded = request({ ...target, method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      forwarded.on("error", () => response.destroy());
      incoming.pipe(forwarded);
    }).listen(port, "127.0.0.1");
    await once(proxy, "listening");
    cleanUp(async () => {
      proxy.closeAllConnections();
      proxy.close();
    });
    browser = await launchChromium(cleanUp, "--host-resolver-rules=MAP *.test 127.0.0.1");
  });

  const signedIn = async (): Promise<OpenedConsole> => {
    const opened = await openConsole(browser, { webUrl: urlOf(ownHost) }, { ignoreHTTPSErrors: true });
    const { page } = opened;
    await page.goto("/console");
    await page.getByRole("link", { name: "Sign in", exact: true }).click();
    await choosePersona(page, "riverside-admin");
    await page.getByRole("button", { name: "Account of Rosa Delgado" }).waitFor();
    return opened;
  };

  test("signing in at another site leads back into a session, whose cookie no other site's request has", async () => {
    const { context } = await signedIn();
    const cookies = await context.cookies(urlOf(ownHost));
    assert.deepEqual(
      cookies.map(({ name, secure, httpOnly, sameSite, path }) => ({ name, secure, httpOnly, sameSite, path })),
      [{ name: "__Host-session", secure: true, httpOnly: true, sameSite: "Strict", path: "/" }],
    );
    await context.close();
  });

  test("signing in at another site a second time ends the first session", async () => {
    const countSessions = (): Promise<number> =>
      withClient(web.database.ownerUrl, async (client) => {
        const { rows } = await client.query<{ count: number }>("select count(*)::int as count from web.sessions");
        return rows[0]?.count ?? 0;
      });
    const { page, context, mistakes } = await signedIn();
    const count = await countSessions();
    const [first] = await context.cookies(urlOf(ownHost));
    await page.evaluate("location.assign('/login?returnTo=/console')");
    await choosePersona(page, "riverside-admin");
    await page.getByRole("button", { name: "Account of Rosa Delgado" }).waitFor();
    const [second] = await context.cookies(urlOf(ownHost));
    assert.notEqual(second?.value, first?.value);
    assert.equal(await countSessions(), count);
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  for (const [what, host] of [
    ["another site", foreignHost],
    ["another origin of the same site", siblingHost],
  ] as const) {
    test(`${what} reads nothing, changes nothing, signs nobody out, and shows none of our pages in a frame`, async () => {
      const { page, context } = await signedIn();
      const attacker = await context.newPage();
      await attacker.goto(urlOf(host));
      await attacker.waitForFunction("document.title !== 'trying'");
      assert.equal(await attacker.title(), Array.from({ length: 6 }, () => "nothing").join());
      assert.deepEqual(written, []);
      const framed = attacker.frames().filter((frame) => frame !== attacker.mainFrame());
      assert.equal(framed.length, 2);
      for (const frame of framed) assert.doesNotMatch(await frame.content(), /EHR Marketplace/);
      await attacker.goto(`${urlOf(host)}/form`);
      await attacker.waitForURL("**/logout");
      await attacker
        .getByText("The request came from another site")
        .or(attacker.getByText("can't be processed"))
        .first()
        .waitFor();
      await page.reload();
      await page.getByRole("button", { name: "Account of Rosa Delgado" }).waitFor();
      await context.close();
    });
  }
});
