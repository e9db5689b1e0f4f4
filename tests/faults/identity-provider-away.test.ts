import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually, signedToken, startPeopledMarketplace } from "@ehr-marketplace/tests/support";

const list = "/api/v1/subscriptions?orgAlias=riverside-clinic";
const coolDownMs = 5_000;

test("the identity provider is away for an hour: known keys keep working, and a rotated one works when it is back", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { url, callers, as } = await startPeopledMarketplace(cleanUp);
  const statusOf = async (token: string): Promise<number> =>
    (await fetch(`${url}${list}`, { headers: { authorization: `Bearer ${token}` } })).status;
  const listed = async (): Promise<number> => (await as("riverside-admin", list.slice("/api/v1".length))).status;
  await eventually("the keys are known, and it serves", 30_000, async () => (await listed()) === 200);
  mock.timers.enable({ apis: ["Date"], now: Date.now() });
  cleanUp(async () => mock.timers.reset());

  const { identityProvider } = callers;
  await identityProvider.stop();
  for (let minutes = 5; minutes <= 60; minutes += 5) {
    mock.timers.tick(5 * 60_000);
    // Signed with a key that is known, as a token is that was fetched just before.
    assert.equal(await statusOf(await signedToken(callers, { roles: ["operator"] })), 200, `after ${minutes} minutes`);
  }
  const unknown = await signedToken(callers, { roles: ["operator"] }, { kid: "rotated-meanwhile" });
  assert.equal(await statusOf(unknown), 401, "a key that nobody could fetch is not believed");

  mock.timers.reset();
  const rotated = await startIdentityProvider({ port: Number(new URL(identityProvider.issuer).port) });
  cleanUp(() => rotated.stop());
  const token = await rotated.accessToken("operator");
  const began = performance.now();
  await eventually("the rotated key works", coolDownMs + 1_000, async () => (await statusOf(token)) === 200);
  t.diagnostic(`a rotated key worked after ${Math.round(performance.now() - began)} ms`);
});
