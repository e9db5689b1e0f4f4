import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "@ehr-marketplace/dev/command-line";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { prepareEhrDatabase, startCluster } from "@ehr-marketplace/dev/postgres";
import type { TokenIssuer } from "@ehr-marketplace/dev/service-environments";
import { usage } from "../command-usage.ts";
import { coldReads, type SizedDatabase } from "../ehr/cold-reads.ts";
import { installForMember, loadInstallations } from "../ehr/load-installations.ts";
import { type Figure, measureFigures } from "../figures.ts";
import { Client, median } from "../measure.ts";
import { type BenchServer, startEhr } from "../servers.ts";
import { alternate, cpuPerRequest } from "../warm-cpu.ts";
import { loadClients } from "./load-clients.ts";

const few = 10_000;

/** The request of an authorization server for an organisation's first app. */
const pathOf = (alias: string): string => `/internal/app-clients?clientId=${alias}.1&orgAlias=${alias}`;

async function assertActive(server: BenchServer, path: string, token: string): Promise<void> {
  const client = new Client(server.url);
  const { status, body } = await client.get(`${server.url}${path}`, token);
  await client.close();
  if (status !== 200 || !body.includes('"active":true')) throw new Error(`${path}: ${status} ${body.toString()}`);
}

/** Compares the CPU time of a request of the authorization server with that of `GET …/installed`, both warm. */
async function warmCheck(serviceUrl: string, issuer: TokenIssuer, tokens: Tokens): Promise<Figure[]> {
  const server = await startEhr(serviceUrl, { issuer });
  const path = pathOf("riverside-clinic");
  await assertActive(server, path, tokens.redeemer);
  const pairs = await alternate(
    () => cpuPerRequest(server, path, { authorization: `Bearer ${tokens.redeemer}` }),
    () => cpuPerRequest(server, "/app-installations/app-1/installed", { authorization: `Bearer ${tokens.member}` }),
  );
  await server.stop();
  return [
    {
      name: "1 warm, CPU per request: GET /api/internal/app-clients",
      measured: `${median(pairs.map((pair) => pair.ours)).toFixed(1)} µs`,
      reference: `${median(pairs.map((pair) => pair.reference)).toFixed(1)} µs by GET …/installed`,
      value: median(pairs.map((pair) => pair.ours / pair.reference)),
      goal: { atMost: 1.5 },
    },
  ];
}

interface Tokens {
  /** Of the authorization server. */
  redeemer: string;
  /** Of a member of the organisation whose installations are read. */
  member: string;
}

/** Runs on a throwaway cluster with PostgreSQL's default settings. */
export async function connectionsBench(options: string[]): Promise<Figure[]> {
  const { values } = readArguments(usage, {
    args: options,
    options: {
      installations: { type: "string", default: "1000000" },
      figures: { type: "string", default: "1,2" },
    },
  });
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-"));
  const cluster = await startCluster({ directory, throwaway: true });
  const issuer = await startIdentityProvider({ port: 0 });
  const load = async (name: string, count: number): Promise<SizedDatabase> => {
    const { ownerUrl, serviceUrl } = await prepareEhrDatabase(cluster.url, name);
    const organisations = await loadInstallations(ownerUrl, count);
    await installForMember(ownerUrl);
    await loadClients(ownerUrl);
    return { serviceUrl, organisations };
  };
  try {
    const small = await load("bench_connections_small", few);
    const tokens = {
      redeemer: await issuer.accessToken("launch-redeemer"),
      member: await issuer.accessToken("riverside-member"),
    };
    const measures: Record<string, () => Promise<Figure[]>> = {
      1: () => warmCheck(small.serviceUrl, issuer, tokens),
      2: async () =>
        coldReads({ small, large: await load("bench_connections_large", Number(values.installations)) }, issuer, {
          name: "cold check of a client",
          token: tokens.redeemer,
          request: (alias) => ({ path: pathOf(alias) }),
        }),
    };
    return await measureFigures(values.figures, measures);
  } finally {
    await issuer.stop();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
