import { randomInt, randomUUID } from "node:crypto";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import {
  type ApiProcess,
  ask,
  type CleanUp,
  type Practice,
  startApiProcess,
  startCallers,
} from "@ehr-marketplace/tests/support";

export interface Recorder {
  apis: ApiProcess[];
  /** How many changes were answered 503 so far, so that nobody knows whether they happened. */
  unanswered(): number;
  /** How many succeeded so far. */
  answered(): number;
  /** Resolves to the timestamps of what was answered, by subscription. */
  stop(): Promise<Map<string, string[]>>;
}

interface Recording {
  /** How many processes share the changes. */
  apis?: number;
  /** One change in ten cancels, and the practice subscribes anew. */
  cancels?: boolean;
}

interface Live {
  id: string;
  alias: string;
  paused: boolean;
  busy: boolean;
  /** Asked for and not answered yet: it is repeated before anything else. */
  command: "pause" | "resume" | "cancel" | undefined;
}

class Unavailable extends Error {}

/**
 * Changes subscriptions through the API at a steady rate, as many practices would. What is answered 503 is asked again, as
 * by a client that wants to know.
 */
export async function startRecording(
  cleanUp: CleanUp,
  serviceUrl: string,
  practices: Practice[],
  perSecond: number,
  { apis: count = 1, cancels = false }: Recording = {},
): Promise<Recorder> {
  const callers = await startCallers(cleanUp);
  const token = callers.token("operator");
  const environment = { ...callers.environment, LOG_LEVEL: "error" };
  const apis: ApiProcess[] = [];
  for (let nth = 0; nth < count; nth += 1) apis.push(await startApiProcess(cleanUp, serviceUrl, { environment }));
  const priced = await ask(apis[0]?.url ?? "", "/apps/northwind-scribe/pricing", undefined);
  const [plan] = (await priced.json()) as { id: string }[];
  const recorded = new Map<string, string[]>();
  const underWay = new Set<Promise<void>>();
  const live: Live[] = [];
  const toSubscribe = practices.map(({ alias }) => ({ alias, key: randomUUID() as string }));
  let [asked, answered, unanswered] = [0, 0, 0];

  const note = ({ id, updatedAt }: SubscriptionDto): void => {
    const known = recorded.get(id) ?? [];
    if (!known.includes(updatedAt)) recorded.set(id, [...known, updatedAt]);
  };
  const post = async (path: string, body: object | undefined, key: string = randomUUID()): Promise<SubscriptionDto> => {
    const asking = { method: "POST", headers: { "idempotency-key": key }, ...(body === undefined ? {} : { body }) };
    asked += 1;
    const answer = await ask(apis[asked % count]?.url ?? "", path, token, asking);
    if (answer.status === 503) throw new Unavailable(await answer.text());
    if (!answer.ok) throw new Error(`${path}: ${answer.status}: ${await answer.text()}`);
    answered += 1;
    return (await answer.json()) as SubscriptionDto;
  };
  const subscribe = async (practice: (typeof toSubscribe)[number]): Promise<void> => {
    const { alias, key } = practice;
    const body = { appSlug: "northwind-scribe", orgAlias: alias, pricingPlanId: plan?.id };
    try {
      const created = await post("/subscriptions", body, key);
      note(created);
      live.push({ id: created.id, alias, paused: false, busy: false, command: undefined });
    } catch (error) {
      toSubscribe.push(practice);
      throw error;
    }
  };
  const change = async (one: Live): Promise<void> => {
    one.busy = true;
    try {
      one.command ??= cancels && randomInt(10) === 0 ? "cancel" : one.paused ? "resume" : "pause";
      const body = one.command === "pause" ? { reason: "ORG_REQUEST" } : undefined;
      note(await post(`/subscriptions/${one.id}/${one.command}`, body));
      one.paused = one.command === "pause";
      if (one.command === "cancel") {
        live.splice(live.indexOf(one), 1);
        toSubscribe.push({ alias: one.alias, key: randomUUID() });
      }
      one.command = undefined;
    } finally {
      one.busy = false;
    }
  };
  const changeSomething = async (): Promise<void> => {
    const practice = toSubscribe.shift();
    const idle = live.filter(({ busy }) => !busy);
    const one = idle[Math.floor(Math.random() * idle.length)];
    try {
      if (practice !== undefined) await subscribe(practice);
      else if (one !== undefined) await change(one);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      unanswered += 1;
    }
  };
  const timer = setInterval(() => {
    for (let each = 0; each < perSecond / 50 && underWay.size < 50; each += 1) {
      const changing: Promise<void> = changeSomething().finally(() => underWay.delete(changing));
      underWay.add(changing);
    }
  }, 20);
  cleanUp(async () => clearInterval(timer));
  return {
    apis,
    unanswered: () => unanswered,
    answered: () => answered,
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
      return recorded;
    },
  };
}
