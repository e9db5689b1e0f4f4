import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { ask, type CleanUp, type Practice, startApiProcess, startCallers } from "@ehr-marketplace/tests/support";

export interface Recorder {
  /** Resolves to the timestamps of what was answered, by subscription. */
  stop(): Promise<Map<string, string[]>>;
}

/** Changes subscriptions through the API at a steady rate, as many practices would. */
export async function startRecording(
  cleanUp: CleanUp,
  serviceUrl: string,
  practices: Practice[],
  perSecond: number,
): Promise<Recorder> {
  const callers = await startCallers(cleanUp);
  const token = callers.token("operator");
  const environment = { ...callers.environment, LOG_LEVEL: "error" };
  const { url } = await startApiProcess(cleanUp, serviceUrl, { environment });
  const plans = (await (await ask(url, "/apps/northwind-scribe/pricing", undefined)).json()) as { id: string }[];
  const recorded = new Map<string, string[]>();
  const underWay = new Set<Promise<void>>();
  const alive: { id: string; paused: boolean; busy: boolean }[] = [];

  const note = ({ id, updatedAt }: SubscriptionDto): void => {
    recorded.set(id, [...(recorded.get(id) ?? []), updatedAt]);
  };
  const post = async (path: string, body?: object): Promise<SubscriptionDto> => {
    const asking = { method: "POST", ...(body === undefined ? {} : { body }) };
    const answer = await ask(url, path, token, asking);
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as SubscriptionDto;
  };
  let next = 0;
  const change = async (): Promise<void> => {
    const practice = practices[next];
    if (practice !== undefined) {
      next += 1;
      const body = { appSlug: "northwind-scribe", orgAlias: practice.alias, pricingPlanId: plans[0]?.id };
      const created = await post("/subscriptions", body);
      note(created);
      alive.push({ id: created.id, paused: false, busy: false });
      return;
    }
    const idle = alive.filter(({ busy }) => !busy);
    const one = idle[Math.floor(Math.random() * idle.length)];
    if (one === undefined) return;
    one.busy = true;
    note(
      await (one.paused
        ? post(`/subscriptions/${one.id}/resume`)
        : post(`/subscriptions/${one.id}/pause`, { reason: "SECURITY" })),
    );
    one.paused = !one.paused;
    one.busy = false;
  };
  const timer = setInterval(() => {
    for (let each = 0; each < perSecond / 50 && underWay.size < 50; each += 1) {
      const changing: Promise<void> = change().finally(() => underWay.delete(changing));
      underWay.add(changing);
    }
  }, 20);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
      return recorded;
    },
  };
}
