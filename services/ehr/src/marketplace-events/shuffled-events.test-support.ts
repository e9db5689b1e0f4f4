import { createHash } from "node:crypto";
import type { SubscriptionEvent } from "@ehr-marketplace/contracts";
import { eventOf } from "./events.test-support.ts";

const day = 86_400_000;
export const practices = Array.from({ length: 50 }, (_, nth) => `practice-${nth + 1}`);

export type Draw = (below: number) => number;

/** A seeded random generator, so that a failure can be reproduced. */
export function drawing(seed: number): Draw {
  let drawn = 0;
  return (below) => {
    drawn += 1;
    return createHash("sha256").update(`${seed} ${drawn}`).digest().readUInt32BE() % below;
  };
}

export interface History {
  events: SubscriptionEvent[];
  /** The final subscriptions at the marketplace, by organisation and app. */
  live: Map<string, { status: string; subscription: string }>;
  subscriptions: number;
}

/** A history of events: each organisation has at most one live subscription to an app, cancels it, and subscribes again. */
export function historyOf(subscriptions: number, draw: Draw): History {
  const history: History = { events: [], live: new Map(), subscriptions: 0 };
  const beganAt = Date.now() - 365 * day;
  for (let pair = 0; history.subscriptions < subscriptions; pair += 1) {
    const orgAlias = practices[pair % practices.length] ?? "";
    const app = `app-${Math.floor(pair / practices.length)}`;
    const key = `${orgAlias} ${app}`;
    let at = beganAt + draw(180 * day);
    const turns = 1 + draw(4);
    for (let turn = 0; turn < turns && history.subscriptions < subscriptions; turn += 1) {
      history.subscriptions += 1;
      const id = uuidFor(history.subscriptions);
      const add = (what: "created" | "paused" | "resumed" | "cancelled"): void => {
        at += 1 + draw(3) * draw(1_000_000);
        history.events.push(eventOf({ what, id, at, app, orgAlias }));
        const status = what === "paused" ? "paused" : "active";
        if (what === "cancelled") history.live.delete(key);
        else history.live.set(key, { status, subscription: id });
      };
      add("created");
      let paused = false;
      for (let changes = draw(4); changes > 0; changes -= 1) {
        add(paused ? "resumed" : "paused");
        paused = !paused;
      }
      // Only a cancelled subscription can be followed by another.
      if (turn < turns - 1 || draw(2) === 0) add("cancelled");
      if (draw(2) === 0) at += draw(60 * day);
    }
  }
  return history;
}

const uuidFor = (nth: number): string => `01890a5d-ac96-774b-bcce-${nth.toString(16).padStart(12, "0")}`;

export interface Arrival {
  event: SubscriptionEvent;
  deliveryId: string;
  at: number;
  /** The number of concurrent copies. */
  copies: number;
}

/** Every event `repeats` times, delayed by minutes to weeks, in the order of arrival. */
export function arrivalsOf(events: SubscriptionEvent[], repeats: number, draw: Draw): Arrival[] {
  const arrivals = events.flatMap((event, nth) =>
    Array.from({ length: repeats }, () => ({
      event,
      deliveryId: `delivery ${nth}`,
      at: Date.parse(event.timestamp) + draw(draw(3) === 0 ? 40 * day : 600_000),
      copies: draw(8) === 0 ? 2 : 1,
    })),
  );
  return arrivals.toSorted((one, other) => one.at - other.at);
}

export interface Left {
  /** When the app was first installed: it is configured then, and never again. */
  configuredBy: Map<Arrival, string>;
  /** Organisation and app of installations that were removed for over 30 days before they were installed again. */
  forgotten: Set<string>;
  /** Those removed for a shorter time. */
  takenUp: number;
}

/** The expected configurations, arrival by arrival. */
export function configurationsLeft(arrivals: Arrival[]): Left {
  const left: Left = { configuredBy: new Map(), forgotten: new Set(), takenUp: 0 };
  const apps = new Map<string, { newest: Map<string, SubscriptionEvent>; isThere: boolean; leftAt: number | null }>();
  for (const arrival of arrivals) {
    const { subscription, app, timestamp } = arrival.event;
    const key = `${subscription.orgAlias} ${app.slug}`;
    const known = apps.get(key) ?? { newest: new Map(), isThere: false, leftAt: null };
    apps.set(key, known);
    if ((known.newest.get(subscription.id)?.timestamp ?? "") >= timestamp) continue;
    known.newest.set(subscription.id, arrival.event);
    const isThere = [...known.newest.values()].some((event) => event.subscription.status !== "cancelled");
    if (isThere && !known.isThere) {
      if (known.leftAt === null) left.configuredBy.set(arrival, key);
      else if (arrival.at - known.leftAt > 30 * day) left.forgotten.add(key);
      else left.takenUp += 1;
    }
    if (!isThere && known.isThere) known.leftAt = arrival.at;
    known.isThere = isThere;
  }
  return left;
}
