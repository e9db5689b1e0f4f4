import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, cloneDatabase, eventually, promisedMs } from "@ehr-marketplace/test-kit";
import { fetchCallers } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";

const list = "/api/v1/subscriptions?orgAlias=riverside-clinic";
const coolDownMs = 5_000;

test("while the identity provider is unavailable for an hour known keys keep working, and a rotated key works once it is back", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const identityProvider = await startIdentityProvider({ port: 0 });
  cleanUp(() => identityProvider.stop());
  const callers = await fetchCallers(identityProvider);
  const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const { url } = await startMarketplace(cleanUp, serviceUrl, callers.environment);
  const statusOf = async (token: string): Promise<number> =>
    (await fetch(`${url}${list}`, { headers: { authorization: `Bearer ${token}` } })).status;
  const admin = callers.token("riverside-admin");
  await eventually("the service has fetched the keys", 30_000, async () => (await statusOf(admin)) === 200);
  mock.timers.enable({ apis: ["Date"], now: Date.now() });
  cleanUp(async () => mock.timers.reset());

  await identityProvider.stop();
  for (let minutes = 5; minutes <= 60; minutes += 5) {
    mock.timers.tick(5 * 60_000);
    // Signed with a known key, like a token that was issued just before the outage.
    assert.equal(await statusOf(await signToken(callers, { roles: ["operator"] })), 200, `after ${minutes} minutes`);
  }
  const unknown = await signToken(callers, { roles: ["operator"] }, { kid: "rotated-meanwhile" });
  assert.equal(await statusOf(unknown), 401, "a token with an unknown key is rejected");

  mock.timers.reset();
  const rotated = await startIdentityProvider({ port: Number(new URL(identityProvider.issuer).port) });
  cleanUp(() => rotated.stop());
  const token = await rotated.accessToken("operator");
  const began = performance.now();
  await eventually(
    "the rotated key works",
    promisedMs(coolDownMs + 1_000),
    async () => (await statusOf(token)) === 200,
  );
  t.diagnostic(`a rotated key worked after ${Math.round(performance.now() - began)} ms`);
});
