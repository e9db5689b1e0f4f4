import { randomInt, randomUUID } from "node:crypto";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import type { Practice } from "@ehr-marketplace/dev/practices";
import { type CleanUp } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { type ServiceProcess, startApiProcess } from "@ehr-marketplace/tests/support/service-process";

export interface ChangeLoad {
  apis: ServiceProcess[];
  /** Changes with a 503 response so far: whether they were committed is unknown. */
  unavailableCount(): number;
  /** Changes that have succeeded so far. */
  succeededCount(): number;
  /** When each acknowledged change was responded to, by subscription and timestamp, as `performance.now()`. */
  respondedAt(): Map<string, number>;
  /** Stops the load and returns the timestamps of acknowledged changes, by subscription. */
  stop(): Promise<Map<string, string[]>>;
}

interface ChangeLoadOptions {
  /** The number of API processes that share the changes. */
  apis?: number;
  /** How many changes may be in progress. More than the API has database connections wait for one, and on a slow machine get 503. */
  maxPending?: number;
  /** One change in ten cancels, and the practice creates a new subscription. */
  cancels?: boolean;
}

interface Live {
  id: string;
  alias: string;
  paused: boolean;
  busy: boolean;
  /** Sent and not acknowledged yet: it is retried before any other change. */
  command: "pause" | "resume" | "cancel" | undefined;
}

class UnavailableError extends Error {}

/** Changes subscriptions of many practices through the API at a steady rate. A change that gets 503 is retried. */
export async function startChangeLoad(
  cleanUp: CleanUp,
  serviceUrl: string,
  practices: Practice[],
  perSecond: number,
  { apis: count = 1, cancels = false, maxPending = 50 }: ChangeLoadOptions = {},
): Promise<ChangeLoad> {
  const callers = await fetchCallers();
  const token = callers.token("operator");
  const environment = { ...callers.environment, LOG_LEVEL: "error" };
  const apis: ServiceProcess[] = [];
  for (let nth = 0; nth < count; nth += 1) apis.push(await startApiProcess(cleanUp, serviceUrl, { environment }));
  const priced = await sendApiRequest(apis[0]?.url ?? "", "/apps/northwind-scribe/pricing", undefined);
  const [plan] = (await priced.json()) as { id: string }[];
  const recorded = new Map<string, string[]>();
  const pendingChanges = new Set<Promise<void>>();
  const live: Live[] = [];
  const toSubscribe = practices.map(({ alias }) => ({ alias, key: randomUUID() as string }));
  let [sent, succeeded, unavailable] = [0, 0, 0];

  const respondedAt = new Map<string, number>();
  const record = ({ id, updatedAt }: SubscriptionDto): void => {
    const key = `${id} ${updatedAt}`;
    respondedAt.set(key, respondedAt.get(key) ?? performance.now());
    const known = recorded.get(id) ?? [];
    if (!known.includes(updatedAt)) recorded.set(id, [...known, updatedAt]);
  };
  const post = async (path: string, body: object | undefined, key: string = randomUUID()): Promise<SubscriptionDto> => {
    const options = { method: "POST", headers: { "idempotency-key": key }, ...(body === undefined ? {} : { body }) };
    sent += 1;
    const response = await sendApiRequest(apis[sent % count]?.url ?? "", path, token, options);
    if (response.status === 503) throw new UnavailableError(await response.text());
    if (!response.ok) throw new Error(`${path}: ${response.status}: ${await response.text()}`);
    succeeded += 1;
    return (await response.json()) as SubscriptionDto;
  };
  const subscribe = async (practice: (typeof toSubscribe)[number]): Promise<void> => {
    const { alias, key } = practice;
    const body = { appSlug: "northwind-scribe", orgAlias: alias, pricingPlanId: plan?.id };
    try {
      const created = await post("/subscriptions", body, key);
      record(created);
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
      record(await post(`/subscriptions/${one.id}/${one.command}`, body));
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
      if (!(error instanceof UnavailableError)) throw error;
      unavailable += 1;
    }
  };
  const timer = setInterval(() => {
    for (let each = 0; each < perSecond / 50 && pendingChanges.size < maxPending; each += 1) {
      const pendingChange: Promise<void> = changeSomething().finally(() => pendingChanges.delete(pendingChange));
      pendingChanges.add(pendingChange);
    }
  }, 20);
  cleanUp(async () => clearInterval(timer));
  return {
    apis,
    unavailableCount: () => unavailable,
    succeededCount: () => succeeded,
    respondedAt: () => respondedAt,
    async stop() {
      clearInterval(timer);
      await Promise.all(pendingChanges);
      return recorded;
    },
  };
}
