import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { insertEhrOrganisations } from "@ehr-marketplace/dev/demo-data";
import { cleanUpAfter, cloneDatabase, rounds } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { createOrganisationSlots } from "../organisations/organisation-slots.ts";
import { readInstallationRows, storeApps } from "./events.test-support.ts";
import { type Outcome, receiveEvent } from "./receive-event.ts";
import {
  type Arrival,
  arrivalsOf,
  configurationsLeft,
  drawing,
  historyOf,
  practices,
} from "./shuffled-events.test-support.ts";

const repeats = 3;
const atOnce = 16;

test("installations match the subscriptions after events that are repeated 3 times and delayed by up to 40 days", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const seed = randomInt(2 ** 31);
  const draw = drawing(seed);
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
  await insertEhrOrganisations(
    ownerUrl,
    practices.map((alias) => ({ alias, secret: `the secret of ${alias}` })),
  );
  // Without HTTP, which other tests cover.
  const connected = await connectAsService<DB>(cleanUp, serviceUrl, { poolSize: atOnce, statementTimeoutMs: 30_000 });
  const { events, live, subscriptions } = historyOf(rounds(200, 10_000), draw);
  await storeApps(ownerUrl, [...new Set(events.map(({ app }) => app.slug))]);
  const arrivals = arrivalsOf(events, repeats, draw);
  const { configuredBy, forgotten, takenUp } = configurationsLeft(arrivals);

  const outcomes = new Map<Outcome, number>();
  const slots = createOrganisationSlots();
  const arrive = async (arrival: Arrival): Promise<void> => {
    const { event, deliveryId, at, copies } = arrival;
    const { orgAlias } = event.subscription;
    const receiving = { ...connected, clock: () => new Date(at), confirmer: { confirmSoon: () => undefined }, slots };
    const receive = () => receiveEvent(receiving, { orgAlias, parsed: event }, deliveryId);
    for (const outcome of await Promise.all(Array.from({ length: copies }, receive)))
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (!configuredBy.has(arrival)) return;
    const configured = connected.database.updateTable("installations").set({ encrypted_config: "1.c2VhbGVk" });
    await configured.where("org_alias", "=", orgAlias).where("app_slug", "=", event.app.slug).execute();
  };
  // Events of an organisation are applied in the order of arrival, so that the time without a subscription is deterministic.
  const waiting = [...Map.groupBy(arrivals, ({ event }) => event.subscription.orgAlias).values()];
  const arriveByOrganisation = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      for (const arrival of next) await arrive(arrival);
  };
  await Promise.all(Array.from({ length: atOnce }, arriveByOrganisation));

  const installed = (await readInstallationRows(ownerUrl))
    .filter(({ status }) => status !== "removed")
    .map(({ org_alias, app_slug, status, subscription_id, encrypted_config }) => [
      `${org_alias} ${app_slug}`,
      { status, subscription: subscription_id, isConfigured: encrypted_config !== null },
    ]);
  const expected = [...live].map(([key, state]) => [key, { ...state, isConfigured: !forgotten.has(key) }]);
  const byName = ([one]: unknown[], [other]: unknown[]): number => (String(one) < String(other) ? -1 : 1);
  assert.deepEqual(installed.toSorted(byName), expected.toSorted(byName), `seed ${seed}`);
  assert.ok(forgotten.size > 0 && takenUp > 0, "configurations are left for longer than 30 days, and for less");
  t.diagnostic(
    `seed ${seed}: ${subscriptions} subscriptions, ${events.length} events, each ${repeats} times or more, ${atOnce} ` +
      `organisations at once: ${live.size} installed, ${JSON.stringify(Object.fromEntries(outcomes))}; ` +
      `configurations taken up again: ${takenUp}, forgotten: ${forgotten.size}`,
  );
});
