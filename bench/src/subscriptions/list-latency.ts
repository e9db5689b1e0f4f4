import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import type { Figure } from "../figures.ts";
import { latencies, median, percentile } from "../measure.ts";
import { type BenchServer, startApi } from "../servers.ts";

const requests = 1_500;
const rounds = 5;

interface SizedDatabase {
  serviceUrl: string;
  organisations: number;
}

/** Measures `GET /subscriptions?orgAlias=` with one client and random organisations, alternating few and many subscriptions. */
export async function listLatency(
  small: SizedDatabase,
  large: SizedDatabase,
  issuer: IdentityProvider,
): Promise<Figure[]> {
  const token = await issuer.accessToken("operator");
  const environment = { TOKEN_ISSUER: issuer.issuer, TOKEN_JWKS_URL: issuer.jwksUrl };
  const few = await startApi(small.serviceUrl, environment);
  const many = await startApi(large.serviceUrl, environment);
  const p95 = async (api: BenchServer, organisations: number): Promise<number> => {
    const urls = Array.from(
      { length: requests },
      () => `${api.url}/subscriptions?orgAlias=clinic-${Math.floor(Math.random() * organisations) + 1}`,
    );
    return percentile(await latencies(urls, token), 0.95);
  };
  await p95(few, small.organisations);
  await p95(many, large.organisations);
  const pairs: { few: number; many: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    pairs.push({ few: await p95(few, small.organisations), many: await p95(many, large.organisations) });
  }
  await few.stop();
  await many.stop();
  const subscriptions = (sized: SizedDatabase): string => (sized.organisations * 4).toLocaleString("en");
  return [
    {
      name: `2 GET /subscriptions?orgAlias= p95, ${subscriptions(large)} against ${subscriptions(small)}`,
      measured: `${median(pairs.map((pair) => pair.many)).toFixed(2)} ms`,
      reference: `${median(pairs.map((pair) => pair.few)).toFixed(2)} ms at ${subscriptions(small)}`,
      value: median(pairs.map((pair) => pair.many / pair.few)),
      goal: { atMost: 1.5 },
    },
  ];
}
