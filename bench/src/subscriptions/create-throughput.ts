import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { withClient } from "@ehr-marketplace/test-kit";
import { v7 as uuid } from "uuid";
import type { Figure } from "../figures.ts";
import { Client, connect, median, throughput } from "../measure.ts";
import { recordStatements, type Statement } from "../recorded-statements.ts";
import { startApi } from "../servers.ts";
import { loadNewcomers } from "./load-subscriptions.ts";

const clients = 10;
const seconds = 5;
const rounds = 5;
const newcomers = 200_000;

/** Adapts recorded statements to another organisation: replaces aliases and ids. */
function replaceIds(statements: Statement[], replacements: Map<string, string>): Statement[] {
  const pattern = new RegExp([...replacements.keys()].join("|"), "g");
  const replaced = (value: unknown): unknown =>
    typeof value === "string" ? value.replace(pattern, (found) => replacements.get(found) ?? found) : value;
  return statements.map(({ text, values }) => ({ text, values: values.map(replaced) }));
}

/** Measures `POST /subscriptions`, with its event and audit entry, per second, against its statements through `pg` alone. */
export async function createThroughput(
  database: { serviceUrl: string; ownerUrl: string },
  issuer: IdentityProvider,
): Promise<Figure[]> {
  await loadNewcomers(database.ownerUrl, newcomers);
  const token = await issuer.accessToken("operator");
  const offer = await findOffer(database.ownerUrl);
  const ids = await newcomerIds(database.ownerUrl);
  let next = 0;
  const newcomer = (): string => {
    next += 1;
    if (next > newcomers) throw new Error("all newcomers are used");
    return `newcomer-${next}`;
  };
  const bodyFor = (orgAlias: string): object => ({ appSlug: offer.slug, orgAlias, pricingPlanId: offer.plan });

  const first = newcomer();
  const headers = { authorization: `Bearer ${token}` };
  const request = { method: "POST", url: "/api/v1/subscriptions", headers, payload: bodyFor(first) } as const;
  const [statements = []] = await recordStatements(database.serviceUrl, [request], issuer);
  const minted = new Set(
    statements
      .filter(({ text }) => text.startsWith("insert"))
      .map(({ values }) => values.find((value) => typeof value === "string" && /^[\da-f-]{36}$/.test(value)) as string),
  );
  console.error(`a create has ${statements.length} statements, begin and commit included`);

  const api = await startApi(database.serviceUrl, {
    DATABASE_POOL_SIZE: String(clients),
    TOKEN_ISSUER: issuer.issuer,
    TOKEN_JWKS_URL: issuer.jwksUrl,
  });
  const httpClients = Array.from({ length: clients }, () => new Client(api.url));
  const connections = await connect(database.serviceUrl, clients);
  const createByApi = async (client: number): Promise<void> => {
    const response = await httpClients[client]?.post(`${api.url}/subscriptions`, token, bodyFor(newcomer()));
    if (response?.status !== 201) throw new Error(`${response?.status}: ${response?.body.toString()}`);
  };
  const createBySql = async (client: number): Promise<void> => {
    const alias = newcomer();
    const replacements = new Map<string, string>([...minted].map((id) => [id, uuid()]));
    replacements.set(first, alias).set(ids.get(first) ?? "", ids.get(alias) ?? "");
    for (const { text, values } of replaceIds(statements, replacements)) await connections[client]?.query(text, values);
  };

  await throughput(clients, 2, createByApi);
  await throughput(clients, 2, createBySql);
  const pairs: { ours: number; bare: number; cpu: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = await api.cpu();
    const ours = await throughput(clients, seconds, createByApi);
    const cpu = ((await api.cpu()) - before) / (ours * seconds);
    pairs.push({ ours, cpu, bare: await throughput(clients, seconds, createBySql) });
  }
  await Promise.all(httpClients.map((client) => client.close()));
  await Promise.all(connections.map((connection) => connection.end()));
  await api.stop();
  return [
    {
      name: "1 POST /subscriptions, per second",
      measured: `${median(pairs.map((pair) => pair.ours)).toFixed(0)}/s (${median(pairs.map((pair) => pair.cpu)).toFixed(0)} µs of CPU each)`,
      reference: `${median(pairs.map((pair) => pair.bare)).toFixed(0)}/s by pg alone, ${clients} connections`,
      value: median(pairs.map((pair) => pair.ours / pair.bare)),
      goal: { atLeast: 0.5 },
    },
  ];
}

async function findOffer(url: string): Promise<{ slug: string; plan: string }> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ slug: string; plan: string }>(
      `select slug, plan.id as plan from apps join pricing_plans plan on app_id = apps.id
       where plan.published_at is not null and trial_days > 0 limit 1`,
    ),
  );
  const [offer] = rows;
  if (offer === undefined) throw new Error("no plan with a trial was generated");
  return offer;
}

async function newcomerIds(url: string): Promise<Map<string, string>> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ alias: string; id: string }>("select alias, id from organisations where alias like 'newcomer-%'"),
  );
  return new Map(rows.map(({ alias, id }) => [alias, id]));
}
