import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, tokenPattern, withClient } from "@ehr-marketplace/test-kit";
import { type RunningWeb, startWeb, type WebBrowser } from "@ehr-marketplace/tests/support/web";
import { readRefreshTokens, refresh } from "./refresh-tokens.test-support.ts";

interface SessionBody {
  signedIn: boolean;
  person?: string;
  name?: string;
  practices?: unknown;
  vendors?: unknown;
  roles?: unknown;
}

describe("signing in", () => {
  const cleanUp = cleanUpAfter();
  let web: RunningWeb;
  before(async () => {
    web = await startWeb(cleanUp);
  });
  const readSession = async (browser: WebBrowser): Promise<SessionBody> => {
    const response = await browser.call("/bff/session");
    assert.equal(response.status, 200);
    return (await response.json()) as SessionBody;
  };
  const countSessions = (): Promise<number> =>
    withClient(web.database.ownerUrl, async (client) => {
      const { rows } = await client.query<{ count: number }>("select count(*)::int as count from web.sessions");
      return rows[0]?.count ?? 0;
    });

  test("leads to the page that was asked for, by a page of our own, and the browser knows who it is", async () => {
    const browser = web.openBrowser();
    assert.deepEqual(await readSession(browser), { signedIn: false });
    const response = await web.signIn(browser, "two-practices", {
      returnTo: "/practice/riverside-clinic?status=paused",
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("refresh"), `0; url=${web.url}/practice/riverside-clinic?status=paused`);
    assert.equal(response.headers.get("cache-control"), "no-store");
    const { signedIn, name, practices, vendors, roles } = await readSession(browser);
    assert.deepEqual(
      { signedIn, name, practices, vendors, roles },
      {
        signedIn: true,
        name: "Amira Haddad",
        practices: [
          { alias: "hilltop-family-practice", isAdmin: false },
          { alias: "riverside-clinic", isAdmin: true },
        ],
        vendors: [],
        roles: [],
      },
    );
  });

  test("tells pages whether it is the same person, without naming them", async () => {
    const [amira, amiraElsewhere, mara] = [web.openBrowser(), web.openBrowser(), web.openBrowser()];
    await web.signIn(amira, "two-practices");
    await web.signIn(amiraElsewhere, "two-practices");
    await web.signIn(mara, "riverside-admin");
    const { person } = await readSession(amira);
    assert.match(person ?? "", /^[\w-]{22}$/);
    assert.equal((await readSession(amiraElsewhere)).person, person);
    assert.notEqual((await readSession(mara)).person, person);
  });

  test("gives the browser a random cookie only, of which the database has a hash, and the tokens encrypted", async () => {
    const browser = web.openBrowser();
    const response = await web.signIn(browser, "operator");
    const cookie = response.headers.getSetCookie().find((line) => line.startsWith("session=")) ?? "";
    assert.match(cookie, /^session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const page = await response.text();
    const session = await (await browser.call("/bff/session")).text();
    for (const text of [page, session, cookie]) assert.doesNotMatch(text, tokenPattern);
    await withClient(web.database.ownerUrl, async (client) => {
      const { rows } = await client.query<{ stored: string }>(
        "select row_to_json(sessions)::text as stored from web.sessions",
      );
      for (const { stored } of rows) {
        assert.doesNotMatch(stored, tokenPattern);
        assert.ok(!stored.includes(browser.cookies.get("session") ?? "missing"));
      }
    });
  });

  test("replaces the session that the browser had, also one that somebody else has put there", async () => {
    const [attacker, victim] = [web.openBrowser(), web.openBrowser()];
    await web.signIn(attacker, "riverside-member");
    const fixed = attacker.cookies.get("session") ?? "";
    victim.cookies.set("session", fixed);
    await web.signIn(victim, "operator");
    assert.notEqual(victim.cookies.get("session"), fixed);
    assert.deepEqual(await readSession(attacker), { signedIn: false });
    assert.equal((await readSession(victim)).name, "Mara Lindqvist");
  });

  for (const [what, isOtherSite] of [
    ["of this site", false],
    ["of another site, to whose redirect the browser adds no Strict cookie", true],
  ] as const) {
    test(`ends the browser's previous session, with an identity provider ${what}`, async () => {
      const [browser, thief] = [web.openBrowser(), web.openBrowser()];
      await web.signIn(browser, "billing");
      thief.cookies.set("session", browser.cookies.get("session") ?? "");
      const [token = ""] = await readRefreshTokens(web, "billing");
      const count = await countSessions();
      await web.signIn(browser, "billing", { isOtherSite });
      assert.equal(await countSessions(), count);
      assert.deepEqual(await readSession(thief), { signedIn: false });
      assert.equal(await refresh(web, token), undefined, "the provider may count both sessions as one");

      const [ofBilling = ""] = await readRefreshTokens(web, "billing");
      await web.signIn(browser, "auditor", { isOtherSite });
      assert.equal(await countSessions(), count);
      assert.equal(await refresh(web, ofBilling), "invalid_grant", "nobody else's session stays at the provider");
      assert.equal((await readSession(browser)).signedIn, true);
    });
  }

  test("keeps the 100 sessions of a user that were used last, however many sign-ins are completed at once", async () => {
    const insertOthers = `
      insert into web.sessions
        (id, cookie_hash, issuer, subject, encrypted_tokens, access_expires_at, created_at, used_at)
      select gen_random_uuid(), sha256(n::text::bytea), $1, 'hilltop-admin', '1.AAAA', now(),
        now() - interval '1 hour', now() - n * interval '1 second'
      from generate_series(1, 110) n`;
    await withClient(web.database.ownerUrl, (client) => client.query(insertOthers, [web.identityProvider.issuer]));
    const browsers = Array.from({ length: 5 }, () => web.openBrowser());
    await Promise.all(browsers.map((browser) => web.signIn(browser, "hilltop-admin")));
    for (const browser of browsers) assert.equal((await readSession(browser)).signedIn, true);
    const { rows } = await withClient(web.database.ownerUrl, (client) =>
      client.query(`
        select count(*)::int as count, extract(epoch from
          max(created_at + interval '1 hour' - used_at) filter (where encrypted_tokens = '1.AAAA'))::int as oldest
        from web.sessions where subject = 'hilltop-admin'`),
    );
    assert.deepEqual(rows, [{ count: 100, oldest: 95 }]);
  });

  test("works in two tabs at once", async () => {
    const browser = web.openBrowser();
    const [first, second] = [await browser.open("/login?returnTo=/a"), await browser.open("/login?returnTo=/b")];
    assert.equal([...browser.cookies.keys()].filter((name) => name.startsWith("sign-in-")).length, 2);
    for (const begun of [first, second]) assert.equal(begun.status, 303);
    await web.signIn(browser, "operator", { returnTo: "/c" });
    assert.equal([...browser.cookies.keys()].filter((name) => name.startsWith("sign-in-")).length, 2);
  });

  test("keeps few pending ones, however many tabs begin it, and the newest can be completed", async () => {
    const browser = web.openBrowser();
    for (let tab = 0; tab < 10; tab += 1) await browser.open("/login");
    assert.equal(browser.cookies.size, 4);
    assert.equal((await web.signIn(browser, "operator")).status, 200);
  });

  for (const [what, character] of [
    ["a space, which a URL writes as three", " "],
    ["a backslash, which JSON writes as two", "\\"],
    ["a letter", "a"],
  ] as const) {
    test(`leaves room for other headers, also if each character to return to is ${what}`, async () => {
      const browser = web.openBrowser();
      for (let tab = 0; tab < 4; tab += 1) {
        const returnTo = `/?${character.repeat(970)}x`;
        const { status } = await browser.open(`/login?${new URLSearchParams({ returnTo }).toString()}`);
        assert.equal(status, 303);
      }
      assert.equal(browser.cookies.size, 4);
      assert.equal((await browser.open("/robots.txt")).status, 200);
    });
  }

  for (const [what, path] of [
    ["that another browser has begun", "/callback?code=abc&state=0123456789abcdef"],
    ["without a state", "/callback?code=abc"],
    ["without anything", "/callback"],
  ] as const) {
    test(`isn't completed ${what}: the page says so, and there is no session`, async () => {
      const sessions = await countSessions();
      const browser = web.openBrowser();
      const response = await browser.open(path);
      assert.equal(response.status, 400);
      assert.match(await response.text(), /This sign-in can&#x27;t be completed/);
      assert.equal(browser.cookies.size, 0);
      assert.equal(await countSessions(), sessions);
    });
  }

  test("that the user cancels ends on a page that says so", async () => {
    const browser = web.openBrowser();
    const begun = await browser.open("/login");
    const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state") ?? "";
    const issuer = encodeURIComponent(web.identityProvider.issuer);
    const response = await browser.open(`/callback?error=access_denied&state=${state}&iss=${issuer}`);
    assert.equal(response.status, 403);
    assert.match(await response.text(), /Signing in was cancelled/);
    assert.equal(browser.cookies.size, 0);
  });

  test("can't be completed twice with the same code", async () => {
    const browser = web.openBrowser();
    const begun = await browser.open("/login");
    const pending = new Map(browser.cookies);
    const { choosePersona, openBrowser } = await import("@ehr-marketplace/dev/identity-provider");
    const atProvider = openBrowser();
    const authorization = begun.headers.get("location") ?? "";
    const login = await atProvider(authorization);
    const back = await choosePersona(
      atProvider,
      new URL(login.headers.get("location") ?? "", authorization),
      "operator",
    );
    assert.equal((await browser.open(back.href)).status, 200);
    const second = web.openBrowser();
    for (const [name, value] of pending) second.cookies.set(name, value);
    assert.equal((await second.open(back.href)).status, 403);
    assert.equal(second.cookies.get("session"), undefined);
  });

  for (const [what, headers] of [
    ["a page of another site", { "sec-fetch-site": "cross-site" }],
    ["a page of another origin of this site", { "sec-fetch-site": "same-site" }],
    ["a page of another origin, in an old browser", { "sec-fetch-site": "", origin: "https://evil.example" }],
    ["something without the header of our scripts", { "x-requested-with": "XMLHttpRequest" }],
  ] as const) {
    test(`isn't told to ${what}`, async () => {
      const browser = web.openBrowser();
      await web.signIn(browser, "operator");
      const response = await browser.call("/bff/session", { headers });
      assert.equal(response.status, 403);
      assert.equal(((await response.json()) as { code: string }).code, "cross-origin");
    });
  }
});
