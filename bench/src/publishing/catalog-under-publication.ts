import { setTimeout as delay } from "node:timers/promises";
import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { loadWithProgress } from "@ehr-marketplace/dev/plausible-apps";
import { prepareMarketplaceDatabase } from "@ehr-marketplace/dev/postgres";
import { withClient } from "@ehr-marketplace/test-kit";
import type { Figure } from "../figures.ts";
import { Client, median, percentile, startStolenTime } from "../measure.ts";
import { startPublishingApi } from "./publishing-api.ts";

const requestsPerSecond = 200;
const publicationsPerSecond = 5;
const secondsPerWindow = 2;
const pairsOfWindows = 15;
/** Pairs during which others took more of the machine's CPU time than this are measured again. */
const maxStolenShare = 0.03;
const maxPairs = 3 * pairsOfWindows;
const reviewsPerVendor = 10;
const maxRatio = 1.5;

/** Calls `send` so many times a second, whether or not the calls before have ended. */
async function atRate(perSecond: number, seconds: number, send: (index: number) => Promise<void>): Promise<void> {
  const began = performance.now();
  const sent: Promise<void>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const wait = began + (index * 1_000) / perSecond - performance.now();
    if (wait > 1) await delay(wait);
    sent.push(send(index));
  }
  await Promise.all(sent);
}

/** Figure 2: how much slower the cached catalog is while revisions are published. Windows without and with publications alternate. */
export async function catalogUnderPublication(
  clusterUrl: string,
  issuer: IdentityProvider,
  { apps, mediaDirectory }: { apps: number; mediaDirectory: string },
): Promise<Figure[]> {
  const database = await prepareMarketplaceDatabase(clusterUrl, "bench_publication");
  await loadWithProgress(database.ownerUrl, { count: apps, seed: 1 });
  const api = await startPublishingApi(database.serviceUrl, issuer, mediaDirectory);
  try {
    const reviews = await submitReviews(api, maxPairs * secondsPerWindow * publicationsPerSecond);
    const slugs = await withClient(database.ownerUrl, async (client) => {
      const { rows } = await client.query<{ slug: string }>("select slug from app_listings order by app_id limit 100");
      return rows.map(({ slug }) => slug);
    });
    const paths = [
      "/apps",
      "/apps/featured",
      "/apps/categories",
      ...["DOCUMENTATION", "FINANCIAL", "REMOTE_CARE"].map((category) => `/apps?category=${category}`),
      ...["scribe", "video visits", "refill", "claims", "intake"].map((q) => `/apps/search?q=${encodeURIComponent(q)}`),
      ...slugs.map((slug) => `/apps/${slug}`),
    ];
    const clients = Array.from({ length: 20 }, () => new Client(api.url));
    const p95OfWindow = async (): Promise<number> => {
      const times: number[] = [];
      await atRate(requestsPerSecond, secondsPerWindow, async (index) => {
        // Half of the requests are for lists.
        const path = paths[index % 2 === 0 ? index % 11 : index % paths.length] ?? "/apps";
        const began = performance.now();
        const { status } = await (clients[index % clients.length] as Client).get(`${api.url}${path}`);
        times.push(performance.now() - began);
        if (status !== 200) throw new Error(`${status} for ${path}`);
      });
      return percentile(times, 0.95);
    };
    const operator = await issuer.accessToken("operator");
    const reviewer = new Client(api.url);
    const publish = (): Promise<void> =>
      atRate(publicationsPerSecond, secondsPerWindow, async () => {
        const id = reviews.pop() ?? "";
        const { status } = await reviewer.post(`${api.url}/admin/reviews/${id}/approve`, operator, {});
        if (status !== 200) throw new Error(`${status} for the approval of ${id}`);
      });

    await p95OfWindow();
    const pairs: { without: number; during: number }[] = [];
    for (let measured = 0; measured < maxPairs && pairs.length < pairsOfWindows; measured += 1) {
      const stolenShare = await startStolenTime();
      const without = await p95OfWindow();
      const [during] = await Promise.all([p95OfWindow(), publish()]);
      const stolen = await stolenShare();
      if (stolen <= maxStolenShare) pairs.push({ without, during });
    }
    await Promise.all([...clients, reviewer].map((client) => client.close()));
    if (pairs.length < pairsOfWindows) throw new Error("the machine is too busy: others took its CPU time all along");
    return [
      {
        name: `catalog p95 while ${publicationsPerSecond} revisions a second are published, ratio`,
        measured: `${median(pairs.map((pair) => pair.during)).toFixed(2)} ms`,
        reference: `${median(pairs.map((pair) => pair.without)).toFixed(2)} ms without`,
        value: median(pairs.map((pair) => pair.during / pair.without)),
        goal: { atMost: maxRatio },
      },
    ];
  } finally {
    await api.stop();
  }
}

async function submitReviews(api: Awaited<ReturnType<typeof startPublishingApi>>, count: number): Promise<string[]> {
  const reviews: string[] = [];
  for (let vendor = 0; reviews.length < count; vendor += 1) {
    const publisher = await api.createVendor(`publishing-${vendor}`);
    for (let index = 0; index < reviewsPerVendor && reviews.length < count; index += 1) {
      const slug = `published-${vendor}-${index}`;
      await publisher.create(slug);
      reviews.push(await publisher.submit(slug));
    }
  }
  return reviews;
}
