import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually, tokenPattern } from "@ehr-marketplace/test-kit";
import { sendApiRequest, sendRequest } from "@ehr-marketplace/tests/support/callers";
import type { RunningWeb } from "@ehr-marketplace/tests/support/web";
import { decodeJwt } from "jose";
import { amira, hilltop, ines, mara, noor, riverside, tom } from "./people.ts";
import { patienceMs } from "./practice.ts";
import { type BrowserOfPerson, openBrowserOf } from "./web-browser.ts";
import type { Person, WebRealm } from "./web-realm.ts";
import { startWebServices, type WebServices } from "./web-services.ts";

describe("the web, with a Keycloak whose realm is the one that operators import", () => {
  const cleanUp = cleanUpAfter();
  let services: WebServices;
  let realm: WebRealm;
  let web: RunningWeb;

  before(async () => {
    services = await startWebServices(cleanUp, [noor, amira, tom, ines, mara]);
    ({ realm, web } = services);
  });

  async function signedIn(who: Person): Promise<BrowserOfPerson> {
    const browser = await openBrowserOf(services.chromium, web, who);
    await browser.signIn();
    return browser;
  }

  test("signs a user of two practices in on Keycloak's page, and knows what she may do in each", async () => {
    const browser = await openBrowserOf(services.chromium, web, amira);
    assert.deepEqual(await browser.session(), { signedIn: false });
    await browser.signIn("/apps?q=scribe");
    const { endsAt, person, ...session } = await browser.session();
    assert.match(String(person), /^[\w-]{22}$/);
    assert.deepEqual(session, {
      signedIn: true,
      name: "Amira Haddad",
      practices: [
        { alias: hilltop, isAdmin: false },
        { alias: riverside, isAdmin: true },
      ],
      vendors: [],
      roles: [],
    });
    assert.ok(Date.parse(String(endsAt)) > Date.now());
    await browser.close();
  });

  test("gets access tokens with the audiences of both services, and nothing beyond what they read", async () => {
    const { aud, azp, organization, realm_access: roles, resource_access: others } = await realm.readClaims("amira");
    assert.deepEqual((aud as string[]).toSorted(), ["ehr", "marketplace"]);
    assert.deepEqual([azp, roles, others], ["marketplace-web", undefined, undefined]);
    assert.deepEqual(organization, { [riverside]: { roles: ["org-admin"] }, [hilltop]: { roles: ["org-member"] } });
    const developer = await realm.readClaims("ines");
    assert.deepEqual(
      [developer["vendor"], developer["realm_access"], developer["organization"]],
      [["northwind-health"], { roles: ["vendor-developer"] }, undefined],
    );
  });

  test("calls both APIs for her: an admin in one practice, a member in the other", async () => {
    const browser = await signedIn(amira);
    for (const alias of [riverside, hilltop]) {
      const path = `/bff/marketplace/subscriptions?orgAlias=${alias}`;
      assert.equal((await browser.call(path)).status, 200);
      const installed = await browser.call("/bff/ehr/app-installations", { headers: { "x-org-alias": alias } });
      assert.equal(installed.status, 200);
    }
    assert.equal((await browser.call("/bff/ehr/app-installations")).status, 403, "she has to select one");
    const plans = (await browser.call("/bff/marketplace/apps/northwind-scribe/pricing")).body as PricingPlanDto[];
    const subscribe = async (orgAlias: string): Promise<number> => {
      const body = { appSlug: "northwind-scribe", orgAlias, pricingPlanId: plans[0]?.id };
      return (await browser.call("/bff/marketplace/subscriptions", { method: "POST", body })).status;
    };
    assert.equal(await subscribe(hilltop), 403);
    assert.equal(await subscribe(riverside), 201);
    await browser.close();
  });

  test("shows no token to the browser: in no page, URL, cookie or storage of ours", async () => {
    const browser = await signedIn(amira);
    await browser.session();
    await browser.call(`/bff/marketplace/subscriptions?orgAlias=${riverside}`);
    const seen = await browser.everythingSeen();
    assert.ok(seen.length > 5);
    for (const { what, text } of seen) assert.doesNotMatch(text, tokenPattern, what);
    await browser.close();
  });

  for (const [what, who, facts, allowed, forbidden] of [
    [
      "a member of one practice",
      tom,
      { practices: [{ alias: riverside, isAdmin: false }], vendors: [], roles: [] },
      [`/bff/marketplace/subscriptions?orgAlias=${riverside}`, "/bff/ehr/app-installations"],
      [`/bff/marketplace/subscriptions?orgAlias=${hilltop}`, "/bff/marketplace/developer/apps"],
    ],
    [
      "a vendor's developer",
      ines,
      { practices: [], vendors: ["northwind-health"], roles: ["vendor-developer"] },
      ["/bff/marketplace/developer/apps", "/bff/marketplace/developer/subscriptions"],
      [`/bff/marketplace/subscriptions?orgAlias=${riverside}`, "/bff/ehr/app-installations"],
    ],
    [
      "an operator",
      mara,
      { practices: [], vendors: [], roles: ["operator"] },
      ["/bff/marketplace/admin/organisations?limit=1", "/bff/ehr/admin/audit"],
      ["/bff/marketplace/developer/apps"],
    ],
    [
      "an auditor",
      noor,
      { practices: [], vendors: [], roles: ["auditor"] },
      ["/bff/marketplace/admin/audit", "/bff/ehr/admin/audit"],
      ["/bff/marketplace/admin/organisations?limit=1", "/bff/ehr/app-installations"],
    ],
  ] as const) {
    test(`knows ${what}, and both APIs do`, async () => {
      const browser = await signedIn(who);
      const { practices, vendors, roles } = await browser.session();
      assert.deepEqual({ practices, vendors, roles }, facts);
      for (const path of allowed) assert.equal((await browser.call(path)).status, 200, path);
      for (const path of forbidden) assert.equal((await browser.call(path)).status, 403, path);
      await browser.close();
    });
  }

  test("refreshes the tokens, which then have the roles that somebody got or lost at Keycloak", async () => {
    const browser = await signedIn(tom);
    const adminOf = async (): Promise<unknown> => (await browser.session()).practices;
    await realm.run(["member", "tom", riverside, "org-admin"]);
    assert.deepEqual(await adminOf(), [{ alias: riverside, isAdmin: false }], "until the token expires");
    await services.expireTokens();
    assert.deepEqual(await adminOf(), [{ alias: riverside, isAdmin: true }]);
    assert.equal((await browser.call("/bff/ehr/app-installations")).status, 200);
    await realm.run(["member", "tom", riverside, "org-member"]);
    await services.expireTokens();
    assert.deepEqual(await adminOf(), [{ alias: riverside, isAdmin: false }]);
    await browser.close();
  });

  test("signs out here and at Keycloak, which returns to our start page, and shows its form the next time", async () => {
    await realm.endSessionsOf("amira");
    const browser = await signedIn(amira);
    await browser.signOut();
    assert.equal(browser.page.url(), `${web.url}/`);
    assert.deepEqual(await browser.session(), { signedIn: false });
    assert.deepEqual(await realm.sessionsOf("amira"), [], "Keycloak has no session of hers");
    await browser.page.goto("/login");
    await browser.page.locator("#username").waitFor();
    await browser.close();
  });

  test("signs out everywhere: in this browser and in the others, and nobody else", async () => {
    const [one, other, another] = [await signedIn(amira), await signedIn(amira), await signedIn(tom)];
    await one.signOut({ everywhere: true });
    const sessions = await Promise.all([one, other, another].map((each) => each.session()));
    assert.deepEqual(
      sessions.map(({ signedIn: isSignedIn }) => isSignedIn),
      [false, false, true],
    );
    for (const each of [one, other, another]) await each.close();
  });

  test("ends a session that an administrator ends at Keycloak, and not the user's in another browser", async () => {
    await realm.endSessionsOf("mara");
    const one = await signedIn(mara);
    const [session = assert.fail("Keycloak has no session")] = await realm.sessionsOf("mara");
    const other = await signedIn(mara);
    await realm.endSession(session);
    await eventually("it is over here", patienceMs, async () => !(await one.session()).signedIn);
    assert.equal((await one.call("/bff/marketplace/admin/organisations?limit=1")).status, 401);
    assert.equal((await other.session()).signedIn, true);
    await realm.endSessionsOf("mara");
    await eventually("all are over here", patienceMs, async () => !(await other.session()).signedIn);
    for (const each of [one, other]) await each.close();
  });

  test("practices are added, and members come and go, as the guide describes it", async () => {
    const browser = await signedIn(tom);
    await realm.runGuide("Practices and their members");
    assert.deepEqual((await realm.readClaims("tom"))["organization"], { "meadow-clinic": { roles: ["org-member"] } });
    // At the latest when the tokens are refreshed: Keycloak doesn't repeat a logout token that the web couldn't accept.
    await services.expireTokens();
    assert.equal((await browser.session()).signedIn, false, "who leaves is signed out");
    await browser.signIn();
    assert.deepEqual((await browser.session()).practices, [{ alias: "meadow-clinic", isAdmin: false }]);
    await browser.close();
  });

  test("the EHR service's client reads the subscriptions of the organisations that its token names", async () => {
    const { access_token: token = "", error_description: error } = await realm.requestEhrToken("organization:*");
    assert.equal(error, undefined);
    const { aud, organization, realm_access: roles } = decodeJwt(token);
    assert.deepEqual([aud, roles], ["marketplace", { roles: ["ehr-service"] }]);
    assert.deepEqual((organization as string[]).toSorted(), [hilltop, "meadow-clinic", riverside]);
    const list = async (alias: string, withToken: string): Promise<number> =>
      (await sendApiRequest(services.marketplace.url, `/subscriptions?orgAlias=${alias}&expand=app`, withToken)).status;
    assert.deepEqual(await Promise.all([riverside, hilltop].map((alias) => list(alias, token))), [200, 200]);
    const { access_token: ofOne = "" } = await realm.requestEhrToken(`organization:${hilltop}`);
    assert.deepEqual(await Promise.all([riverside, hilltop].map((alias) => list(alias, ofOne))), [403, 200]);
    assert.equal(
      (await sendRequest(`${services.ehr.url}/api/app-installations`, token, {})).status,
      401,
      "another audience",
    );
  });

  for (const [what, change, refusal] of [
    ["without PKCE", { code_challenge: "", code_challenge_method: "" }, "invalid_request"],
    ["with plain PKCE", { code_challenge_method: "plain" }, "invalid_request"],
    ["with implicit tokens", { response_type: "token" }, "unauthorized_client"],
    ["with the scope organization", { scope: "openid organization:*" }, "invalid_scope"],
    ["with another redirect URI", { redirect_uri: "https://evil.example/callback" }, undefined],
  ] as [string, Record<string, string>, string | undefined][]) {
    test(`Keycloak refuses a sign-in of the web ${what}`, async () => {
      const { searchParams } = new URL((await web.openBrowser().open("/login")).headers.get("location") ?? "");
      const url = new URL(`${realm.issuer}/protocol/openid-connect/auth`);
      for (const [name, value] of Object.entries({ ...Object.fromEntries(searchParams), ...change }))
        if (value !== "") url.searchParams.set(name, value);
      const response = await fetch(url, { redirect: "manual" });
      const location = response.headers.get("location");
      if (refusal === undefined) return assert.deepEqual([response.status, location], [400, null]);
      assert.match(location ?? `${response.status}`, new RegExp(`[?&#]error=${refusal}`));
    });
  }
});
