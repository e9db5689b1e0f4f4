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
  /** Records that can't be counted, and why. A repetition would change nothing. */
  onRefused?: (subscriptionId: string, records: UsageRecord[], reason: string) => void;
}

interface UsageResult {
  id: string;
  status: "accepted" | "duplicate" | "rejected";
  reason: string | null;
}

const logRefused: NonNullable<Options["onRefused"]> = (subscriptionId, records, reason) =>
  console.error(`${subscriptionId}: ${records.map(({ id }) => id).join(", ")}: ${reason}`);

const maxRecords = 500;
const maxRetryMs = 60_000;

/** Collects records of subscriptions, and sends them in batches. A batch is repeated until it has a response: a record counts once. */
export function createUsageReporter({ apiUrl, getToken, maxWaitMs = 5_000, onRefused = logRefused }: Options) {
  const waiting = new Map<string, UsageRecord[]>();
  const running = new Set<Promise<void>>();

  /** One attempt. Undefined once there is nothing to repeat. A token that has expired is renewed by `getToken`. */
  async function attempt(
    subscriptionId: string,
    records: UsageRecord[],
  ): Promise<{ retryAfterMs: number } | undefined> {
    try {
      const response = await fetch(`${apiUrl}/subscriptions/${subscriptionId}/usage`, {
        method: "POST",
        headers: { authorization: `Bearer ${await getToken()}`, "content-type": "application/json" },
        body: JSON.stringify({ records }),
        signal: AbortSignal.timeout(30_000),
      });
      if (response.ok) {
        const { results } = (await response.json()) as { results: UsageResult[] };
        for (const [index, { status, reason }] of results.entries()) {
          const record = records[index];
          if (status === "rejected" && record) onRefused(subscriptionId, [record], reason ?? "");
        }
        return undefined;
      }
      const isTemporary = [401, 429].includes(response.status) || response.status >= 500;
      if (isTemporary) return { retryAfterMs: Number(response.headers.get("retry-after") ?? 0) * 1_000 };
      onRefused(subscriptionId, records, `${response.status}: ${await response.text()}`);
      return undefined;
    } catch {
      // No response, or only a part of it: the records may have been counted, and are not counted twice.
      return { retryAfterMs: 0 };
    }
  }

  async function send(subscriptionId: string, records: UsageRecord[]): Promise<void> {
    for (let attempts = 0; ; attempts += 1) {
      const failed = await attempt(subscriptionId, records);
      if (failed === undefined) return;
      const wait = failed.retryAfterMs || Math.min(1_000 * 2 ** attempts, maxRetryMs);
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
