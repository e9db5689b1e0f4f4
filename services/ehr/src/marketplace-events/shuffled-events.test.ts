import assert from "node:assert/strict";
import { createHash, randomInt } from "node:crypto";
import { test } from "node:test";
import type { SubscriptionEvent } from "@ehr-marketplace/contracts";
import { insertEhrOrganisations } from "@ehr-marketplace/dev/demo-data";
import { cleanUpAfter, cloneDatabase, connectTo, rounds } from "@ehr-marketplace/tests/support";
import type { DB } from "../database-schema.ts";
import { eventOf, installationsIn } from "./events.test-support.ts";
import { type Outcome, receiveEvent } from "./receive-event.ts";

const organisations = 50;
const repeats = 3;
const atOnce = 16;

/** The same numbers for the same seed, so that a failure can be run again. */
function drawing(seed: number): (below: number) => number {
  let drawn = 0;
  return (below) => {
    drawn += 1;
    return createHash("sha256").update(`${seed} ${drawn}`).digest().readUInt32BE() % below;
  };
}

interface History {
  events: SubscriptionEvent[];
  /** What the marketplace has in the end, by organisation and app. */
  live: Map<string, { status: string; subscription: string }>;
  subscriptions: number;
}

/** What organisations do over a year: each has at most one live subscription to an app, cancels it, and subscribes again. */
function historyOf(subscriptions: number, draw: (below: number) => number): History {
  const history: History = { events: [], live: new Map(), subscriptions: 0 };
  const year = 365 * 86_400_000;
  const beganAt = Date.now() - year;
  for (let pair = 0; history.subscriptions < subscriptions; pair += 1) {
    const orgAlias = `practice-${(pair % organisations) + 1}`;
    const app = `app-${Math.floor(pair / organisations)}`;
    const key = `${orgAlias} ${app}`;
    let at = beganAt + draw(year / 2);
    const turns = 1 + draw(4);
    for (let turn = 0; turn < turns && history.subscriptions < subscriptions; turn += 1) {
      history.subscriptions += 1;
      const id = uuidFor(history.subscriptions);
      const told = (what: "created" | "paused" | "resumed" | "cancelled"): void => {
        at += 1 + draw(3) * draw(1_000_000);
        history.events.push(eventOf({ what, id, at, app, orgAlias }));
        const status = what === "paused" ? "paused" : "active";
        if (what === "cancelled") history.live.delete(key);
        else history.live.set(key, { status, subscription: id });
      };
      told("created");
      let paused = false;
      for (let changes = draw(4); changes > 0; changes -= 1) {
        told(paused ? "resumed" : "paused");
        paused = !paused;
      }
      // Only a cancelled one can be followed by another.
      if (turn < turns - 1 || draw(2) === 0) told("cancelled");
    }
  }
  return history;
}

const uuidFor = (nth: number): string => `01890a5d-ac96-774b-bcce-${nth.toString(16).padStart(12, "0")}`;

function shuffled<T>(items: T[], draw: (below: number) => number): T[] {
  const all = [...items];
  for (let last = all.length - 1; last > 0; last -= 1) {
    const other = draw(last + 1);
    [all[last], all[other]] = [all[other] as T, all[last] as T];
  }
  return all;
}

test("events shuffled, repeated 3 times and delayed: the installations are the subscriptions, always", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const seed = randomInt(2 ** 31);
  const draw = drawing(seed);
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
  const aliases = Array.from({ length: organisations }, (_, nth) => `practice-${nth + 1}`);
  await insertEhrOrganisations(
    ownerUrl,
    aliases.map((alias) => ({ alias, secret: `the secret of ${alias}` })),
  );
  // Without HTTP, which has tests of its own.
  const receiving = await connectTo<DB>(cleanUp, serviceUrl, { poolSize: atOnce, statementTimeoutMs: 30_000 });
  const { events, live, subscriptions } = historyOf(rounds(1_000, 10_000), draw);

  const deliveries = events.map((event, nth) => ({ event, deliveryId: `delivery ${nth}` }));
  const arriving = shuffled(
    deliveries.flatMap((delivery) => Array.from({ length: repeats }, () => delivery)),
    draw,
  );
  const outcomes = new Map<Outcome, number>();
  const arrive = async (): Promise<void> => {
    for (let next = arriving.pop(); next !== undefined; next = arriving.pop()) {
      const { event, deliveryId } = next;
      const verified = { orgAlias: event.subscription.orgAlias, parsed: event };
      const outcome = await receiveEvent(receiving, verified, deliveryId);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, arrive));

  const installed = (await installationsIn(ownerUrl))
    .filter(({ status }) => status !== "removed")
    .map(({ org_alias, app_slug, status, subscription_id }) => [
      `${org_alias} ${app_slug}`,
      { status, subscription: subscription_id },
    ]);
  const byName = ([one]: unknown[], [other]: unknown[]): number => (String(one) < String(other) ? -1 : 1);
  assert.deepEqual(installed.toSorted(byName), [...live].toSorted(byName), `seed ${seed}`);
  t.diagnostic(
    `seed ${seed}: ${subscriptions} subscriptions, ${events.length} events, each ${repeats} times, ${atOnce} at once: ` +
      `${live.size} installed, ${JSON.stringify(Object.fromEntries(outcomes))}`,
  );
});
