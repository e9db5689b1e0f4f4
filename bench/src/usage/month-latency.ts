import type { UsageDto } from "@ehr-marketplace/contracts";
import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import type { Figure } from "../figures.ts";
import { Client, latencies, median, percentile } from "../measure.ts";
import { startApi } from "../servers.ts";
import { lastMonth, loadRecords, type Month, subscriptionsFor } from "./load-records.ts";
import { loadSubscribers } from "./load-subscribers.ts";

const few = 100_000;
const requests = 400;
const rounds = 7;

/** Figure 2: the sum of a month of a subscription, with many records stored against few. */
export async function monthLatency(
  clusterUrl: string,
  issuer: IdentityProvider,
  { records, mediaDirectory }: { records: number; mediaDirectory: string },
): Promise<Figure[]> {
  const month = lastMonth(new Date());
  const load = async (name: string, count: number) => {
    const subscribers = subscriptionsFor(count, month);
    const database = await loadSubscribers(clusterUrl, { name, count: subscribers, mediaDirectory });
    return { ...database, records: await loadRecords(database.ownerUrl, month) };
  };
  const [small, large] = [await load("bench_few_records", few), await load("bench_many_records", records)];
  // Fetched after the records are loaded, which may take longer than it is valid.
  const token = await issuer.accessToken("operator");
  const start = async ({ serviceUrl, subscriptions }: typeof small) => {
    const api = await startApi(serviceUrl, { TOKEN_ISSUER: issuer.issuer, TOKEN_JWKS_URL: issuer.jwksUrl });
    const urlOf = (subscription: string): string =>
      `${api.url}/subscriptions/${subscription}/usage?granularity=month&from=${month.from}&to=${month.to}`;
    await assertSum(urlOf(subscriptions[0] ?? ""), token, month);
    const p95 = async (): Promise<number> => {
      const random = (): string => subscriptions[Math.floor(Math.random() * subscriptions.length)] ?? "";
      const urls = Array.from({ length: requests }, () => urlOf(random()));
      return percentile(await latencies(urls, token), 0.95);
    };
    return { api, p95 };
  };
  const [ofFew, ofMany] = [await start(small), await start(large)];
  await ofFew.p95();
  await ofMany.p95();
  const pairs: { few: number; many: number }[] = [];
  for (let round = 0; round < rounds; round += 1) pairs.push({ few: await ofFew.p95(), many: await ofMany.p95() });
  await ofFew.api.stop();
  await ofMany.api.stop();
  const [fast, slow] = [median(pairs.map((pair) => pair.few)), median(pairs.map((pair) => pair.many))];
  return [
    {
      name: `2 GET …/usage?granularity=month p95, ${large.records.toLocaleString("en")} records`,
      measured: `${slow.toFixed(2)} ms`,
      reference: `${fast.toFixed(2)} ms at ${small.records.toLocaleString("en")}`,
      value: slow / fast,
      goal: { atMost: 1.5 },
    },
  ];
}

async function assertSum(url: string, token: string, { from, days }: Month): Promise<void> {
  const client = new Client(url);
  const { status, body } = await client.get(url, token);
  await client.close();
  const [item] = status === 200 ? (JSON.parse(body.toString()) as UsageDto).items : [];
  if (item?.from !== from || Number(item.quantity) < days.length) throw new Error(`${status}: ${body.toString()}`);
}
