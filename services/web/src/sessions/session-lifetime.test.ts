import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { type CleanUp, cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { type RunningWeb, startWeb, type WebBrowser } from "@ehr-marketplace/tests/support/web";
import { readRefreshTokens } from "./refresh-tokens.test-support.ts";

const countSessions = ({ database }: RunningWeb): Promise<number> =>
  withClient(database.ownerUrl, async (client) => {
    const { rows } = await client.query<{ count: number }>("select count(*)::int as count from web.sessions");
    return rows[0]?.count ?? 0;
  });

/** Sets times back, as if they had passed. */
const age = ({ database }: RunningWeb, changes: string): Promise<unknown> =>
  withClient(database.ownerUrl, (client) => client.query(`update web.sessions set ${changes}`));

async function signedIn(web: RunningWeb): Promise<WebBrowser> {
  const browser = web.openBrowser();
  await web.signIn(browser, "operator");
  return browser;
}

/** The same browser, at another process of the web. */
function openAt(web: RunningWeb, { cookies }: WebBrowser): WebBrowser {
  const browser = web.openBrowser();
  browser.cookies.set("session", cookies.get("session") ?? "");
  return browser;
}

async function startWithOwnProvider(cleanUp: CleanUp) {
  const port = await freePort();
  const provider = await startIdentityProvider({ port });
  cleanUp(() => provider.stop());
  const web = await startWeb(cleanUp, { identityProvider: provider });
  return { web, provider, port };
}

const readSession = async (browser: WebBrowser) => {
  const response = await browser.call("/bff/session");
  return { status: response.status, body: (await response.json()) as { signedIn?: boolean; code?: string } };
};

describe("a session ends", () => {
  for (const [what, changes] of [
    ["an hour after its last use", "used_at = now() - interval '60 minutes', created_at = now() - interval '2 hours'"],
    ["12 hours after sign-in, however much it is used", "created_at = now() - interval '12 hours'"],
  ] as const) {
    test(what, async (t) => {
      const web = await startWeb(cleanUpAfter(t));
      const browser = await signedIn(web);
      await age(web, changes);
      assert.deepEqual((await readSession(browser)).body, { signedIn: false });
      assert.equal(browser.cookies.get("session"), undefined, "the browser forgets the cookie");
    });
  }

  test("not while it is used", async (t) => {
    const web = await startWeb(cleanUpAfter(t));
    const browser = await signedIn(web);
    for (let use = 0; use < 3; use += 1) {
      await age(web, "used_at = used_at - interval '50 minutes', created_at = created_at - interval '50 minutes'");
      assert.equal((await readSession(browser)).body.signedIn, true);
    }
  });

  test("and is deleted, and others aren't", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const web = await startWeb(cleanUp);
    await signedIn(web);
    await age(web, "created_at = now() - interval '12 hours'");
    const browser = await signedIn(web);
    // The maintenance runs when a process starts.
    const second = await startWeb(cleanUp, { database: web.database });
    await eventually("the old session is deleted", 30_000, async () => (await countSessions(second)) === 1);
    assert.equal((await readSession(browser)).body.signedIn, true);
  });
});

describe("tokens that expire", () => {
  /** Counts how often the tokens of sessions are replaced. */
  const countRefreshes = async ({ database }: RunningWeb): Promise<() => Promise<number>> => {
    await withClient(database.ownerUrl, (client) =>
      client.query(`
        create table web.refreshes (at timestamptz default clock_timestamp());
        create function web.count_refresh() returns trigger language plpgsql security definer as
          $$ begin insert into web.refreshes default values; return null; end $$;
        create trigger count_refresh after update of encrypted_tokens on web.sessions
          for each row execute function web.count_refresh()`),
    );
    return () =>
      withClient(database.ownerUrl, async (client) => {
        const { rows } = await client.query<{ count: number }>("select count(*)::int as count from web.refreshes");
        return rows[0]?.count ?? 0;
      });
  };

  test("are refreshed once, however many requests of two processes need them", async (t) => {
    const cleanUp = cleanUpAfter(t);
    // On a busy machine a refresh takes longer than others may usually wait for its lock.
    const web = await startWeb(cleanUp, { environment: patientLimits });
    const second = await startWeb(cleanUp, { database: web.database, environment: patientLimits });
    const browser = await signedIn(web);
    const sameBrowser = openAt(second, browser);
    const refreshes = await countRefreshes(web);
    await age(web, "access_expires_at = now()");
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) => readSession(n % 2 === 0 ? browser : sameBrowser)),
    );
    for (const { body } of responses) assert.equal(body.signedIn, true);
    assert.equal(await refreshes(), 1);
  });

  test("are used while the identity provider is down, until they have expired", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const { web, provider } = await startWithOwnProvider(cleanUp);
    const browser = await signedIn(web);
    await provider.stop();
    await age(web, "access_expires_at = now() + interval '50 seconds'");
    assert.equal((await readSession(browser)).body.signedIn, true);
    await age(web, "access_expires_at = now() - interval '1 second'");
    const { status, body } = await readSession(browser);
    assert.deepEqual([status, body.code], [503, "sign-in-unavailable"]);
    assert.equal(await countSessions(web), 1, "the session outlives the failure");
    const login = await web.openBrowser().open("/login");
    assert.equal(login.status, 503);
    assert.match(await login.text(), /Signing in doesn&#x27;t work at the moment/);
  });

  test("end the session if the identity provider refuses to renew them", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const { web, provider, port } = await startWithOwnProvider(cleanUp);
    const browser = await signedIn(web);
    await provider.stop();
    // It has forgotten all refresh tokens.
    const successor = await startIdentityProvider({ port, keys: provider.keys });
    cleanUp(() => successor.stop());
    await age(web, "access_expires_at = now()");
    const response = await browser.call("/bff/marketplace/subscriptions");
    assert.equal(response.status, 401);
    assert.equal(((await response.json()) as { code: string }).code, "session-required");
    assert.equal(await countSessions(web), 0);
    assert.deepEqual((await readSession(browser)).body, { signedIn: false });
  });
});

describe("an identity provider that rotates refresh tokens, and is slow", () => {
  /** It signs nobody in, and responds to a refresh once it is released. */
  async function startRotatingProvider(cleanUp: CleanUp, { identityProvider }: RunningWeb) {
    const refreshing = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const revoked: (string | null)[] = [];
    const respond = async (path: string | undefined, body: URLSearchParams): Promise<object> => {
      if (path === "/revoke") return { revoked: revoked.push(body.get("token")) };
      if (path !== "/token") {
        const endpoints = { token_endpoint: `${issuer}/token`, revocation_endpoint: `${issuer}/revoke` };
        return { issuer, authorization_endpoint: `${issuer}/authorize`, ...endpoints };
      }
      refreshing.resolve();
      await released.promise;
      const token = await signToken({ identityProvider }, { iss: issuer, sub: "operator" });
      return { access_token: token, token_type: "Bearer", expires_in: 300, refresh_token: "rotated" };
    };
    const server = createServer((request, response) => {
      void text(request)
        .then((body) => respond(request.url, new URLSearchParams(body)))
        .then((body) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUp(async () => {
      released.resolve();
      server.closeAllConnections();
      server.close();
    });
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return {
      identityProvider: { ...identityProvider, issuer },
      refreshing: refreshing.promise,
      release: released.resolve,
      revoked,
    };
  }

  const countConnections = ({ database }: RunningWeb, condition: string): Promise<number> =>
    withClient(database.ownerUrl, async (client) => {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where datname = current_database() and ${condition}`,
      );
      return rows[0]?.count ?? 0;
    });

  async function startRefresh(cleanUp: CleanUp, environment: Record<string, string>) {
    const web = await startWeb(cleanUp);
    const browser = await signedIn(web);
    const provider = await startRotatingProvider(cleanUp, web);
    const { identityProvider } = provider;
    const rotating = await startWeb(cleanUp, { database: web.database, identityProvider, environment });
    await age(web, "access_expires_at = now()");
    const sameBrowser = openAt(rotating, browser);
    const refreshed = readSession(sameBrowser);
    await provider.refreshing;
    return { web, provider, sameBrowser, refreshed };
  }

  test("may take longer than a statement: the new token is stored", async (t) => {
    const { web, provider, refreshed } = await startRefresh(cleanUpAfter(t), { STATEMENT_TIMEOUT_MS: "1000" });
    const isRecent = "state = 'idle in transaction' and state_change > now() - interval '1.5 seconds'";
    await eventually("no transaction is younger", 30_000, async () => (await countConnections(web, isRecent)) === 0);
    provider.release();
    assert.equal((await refreshed).body.signedIn, true);
    assert.deepEqual(await readRefreshTokens(web, "operator"), ["rotated"]);
  });

  test("revokes the new token if the user signs out during the refresh", async (t) => {
    const { web, provider, sameBrowser, refreshed } = await startRefresh(cleanUpAfter(t), patientLimits);
    const request = { method: "POST", headers: { "sec-fetch-site": "same-origin" } };
    const signedOut = sameBrowser.open("/logout", request);
    const isWaiting = "wait_event_type = 'Lock'";
    await eventually("signing out waits", 30_000, async () => (await countConnections(web, isWaiting)) === 1);
    provider.release();
    assert.equal((await signedOut).status, 303);
    await refreshed;
    assert.deepEqual(provider.revoked, ["rotated"]);
  });
});

test("a process that starts while the identity provider is down says so, and sessions outlive it", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { web, provider } = await startWithOwnProvider(cleanUp);
  const browser = await signedIn(web);
  await provider.stop();
  const successor = await startWeb(cleanUp, { database: web.database, identityProvider: provider });
  const { status, body } = await readSession(openAt(successor, browser));
  assert.deepEqual([status, body.code], [503, "sign-in-unavailable"]);
  assert.equal(await countSessions(web), 1);
});

test("a session is over if its encryption key has been removed", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const web = await startWeb(cleanUp);
  const browser = await signedIn(web);
  const other = `2:${Buffer.alloc(32, 7).toString("base64")}`;
  const rotated = await startWeb(cleanUp, { database: web.database, environment: { ENCRYPTION_KEYS: other } });
  assert.deepEqual((await readSession(openAt(rotated, browser))).body, { signedIn: false });
});
