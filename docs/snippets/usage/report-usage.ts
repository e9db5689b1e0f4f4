/** A record of the marketplace's `POST /subscriptions/{id}/usage`. */
export interface UsageRecord {
  /** Yours, and the same whenever you send the record. */
  id: string;
  metric: string;
  quantity: string;
  occurredAt: string;
}

interface Options {
  /** For example https://marketplace.example.com/api/v1 */
  apiUrl: string;
  getToken: () => Promise<string>;
  /** Records are collected for this long, or until there are 500. */
  maxWaitMs?: number;
}

const maxRecords = 500;
const maxRetryMs = 60_000;

/** Collects records of subscriptions, and sends them in batches. A batch is repeated until it has a response: a record counts once. */
export function createUsageReporter({ apiUrl, getToken, maxWaitMs = 5_000 }: Options) {
  const waiting = new Map<string, UsageRecord[]>();
  const running = new Set<Promise<void>>();

  async function send(subscriptionId: string, records: UsageRecord[]): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const response = await fetch(`${apiUrl}/subscriptions/${subscriptionId}/usage`, {
        method: "POST",
        headers: { authorization: `Bearer ${await getToken()}`, "content-type": "application/json" },
        body: JSON.stringify({ records }),
        signal: AbortSignal.timeout(30_000),
      }).catch(() => undefined);
      if (response?.ok === true) {
        const { results } = (await response.json()) as {
          results: { id: string; status: string; reason: string | null }[];
        };
        for (const { id, status, reason } of results) if (status === "rejected") console.error(`${id}: ${reason}`);
        return;
      }
      const isTemporary = response === undefined || response.status === 429 || response.status >= 500;
      if (!isTemporary) throw new Error(`${response.status}: ${await response.text()}`);
      const wait =
        Number(response?.headers.get("retry-after") ?? 0) * 1_000 || Math.min(1_000 * 2 ** attempt, maxRetryMs);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  function flushOne(subscriptionId: string): void {
    const records = waiting.get(subscriptionId) ?? [];
    waiting.delete(subscriptionId);
    if (records.length === 0) return;
    const sending: Promise<void> = send(subscriptionId, records).finally(() => running.delete(sending));
    running.add(sending);
  }

  return {
    add(subscriptionId: string, record: UsageRecord): void {
      const records = waiting.get(subscriptionId) ?? [];
      if (records.length === 0) setTimeout(() => flushOne(subscriptionId), maxWaitMs).unref();
      waiting.set(subscriptionId, records);
      if (records.push(record) >= maxRecords) flushOne(subscriptionId);
    },
    /** Before your process ends. In production, store records before you add them, and delete them afterwards. */
    async flush(): Promise<void> {
      for (const subscriptionId of waiting.keys()) flushOne(subscriptionId);
      await Promise.all(running);
    },
  };
}
