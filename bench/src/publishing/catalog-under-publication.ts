import { setTimeout as delay } from "node:timers/promises";
import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { loadWithProgress } from "@ehr-marketplace/dev/plausible-apps";
import { prepareMarketplaceDatabase } from "@ehr-marketplace/dev/postgres";
import { withClient } from "@ehr-marketplace/test-kit";
import type { Figure } from "../figures.ts";
import { Client, percentile } from "../measure.ts";
import { startPublishingApi } from "./publishing-api.ts";

const requestsPerSecond = 200;
const publicationsPerSecond = 5;
const secondsPerWindow = 10;
const windows = 3;
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

/** Figure 2: how much slower the cached catalog is while revisions are published. Windows with and without alternate. */
export async function catalogUnderPublication(
  clusterUrl: string,
  issuer: IdentityProvider,
  { apps, mediaDirectory }: { apps: number; mediaDirectory: string },
): Promise<Figure[]> {
  const database = await prepareMarketplaceDatabase(clusterUrl, "bench_publication");
  await loadWithProgress(database.ownerUrl, { count: apps, seed: 1 });
  const api = await startPublishingApi(database.serviceUrl, issuer, mediaDirectory);
  try {
    const reviews = await submitReviews(api, windows * secondsPerWindow * publicationsPerSecond);
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
    const measureWindow = async (times: number[]): Promise<void> =>
      atRate(requestsPerSecond, secondsPerWindow, async (index) => {
        // Half of the requests are for lists.
        const path = paths[index % 2 === 0 ? index % 11 : index % paths.length] ?? "/apps";
        const began = performance.now();
        const { status } = await (clients[index % clients.length] as Client).get(`${api.url}${path}`);
        times.push(performance.now() - began);
        if (status !== 200) throw new Error(`${status} for ${path}`);
      });
    const operator = await issuer.accessToken("operator");
    const reviewer = new Client(api.url);
    const publish = (): Promise<void> =>
      atRate(publicationsPerSecond, secondsPerWindow, async () => {
        const id = reviews.pop() ?? "";
        const { status } = await reviewer.post(`${api.url}/admin/reviews/${id}/approve`, operator, {});
        if (status !== 200) throw new Error(`${status} for the approval of ${id}`);
      });

    await measureWindow([]);
    const [quiet, busy]: [number[], number[]] = [[], []];
    for (let window = 0; window < windows; window += 1) {
      await measureWindow(quiet);
      await Promise.all([measureWindow(busy), publish()]);
    }
    await Promise.all([...clients, reviewer].map((client) => client.close()));
    const [without, during] = [percentile(quiet, 0.95), percentile(busy, 0.95)];
    return [
      {
        name: `catalog p95 while ${publicationsPerSecond} revisions a second are published, ratio`,
        measured: `${during.toFixed(2)} ms`,
        reference: `${without.toFixed(2)} ms without`,
        value: during / without,
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
