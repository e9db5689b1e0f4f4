import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "@ehr-marketplace/dev/command-line";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { prepareEhrDatabase, startCluster } from "@ehr-marketplace/dev/postgres";
import { usage } from "../command-usage.ts";
import { type Figure, measureFigures } from "../figures.ts";
import { startEhr } from "../servers.ts";
import { warmCpu } from "../warm-cpu.ts";
import { coldReads } from "./cold-reads.ts";
import { launchThroughput } from "./launch-throughput.ts";
import { installForMember, loadInstallations } from "./load-installations.ts";
import { subscribeToInstalled } from "./subscribe-to-installed.ts";

/** Runs on a throwaway cluster with PostgreSQL's default settings, except commit timestamps for figure 4. */
export async function ehrBench(options: string[]): Promise<Figure[]> {
  const { values } = readArguments(usage, {
    args: options,
    options: {
      installations: { type: "string", default: "1000000" },
      seconds: { type: "string", default: "60" },
      figures: { type: "string", default: "1,2,3,4" },
    },
  });
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-"));
  const settings = { max_connections: "300", track_commit_timestamp: "on" };
  const cluster = await startCluster({ directory, throwaway: true, settings });
  const issuer = await startIdentityProvider({ port: 0 });
  try {
    const small = await prepareEhrDatabase(cluster.url, "bench_ehr_small");
    const few = { ...small, organisations: await loadInstallations(small.ownerUrl, 10_000) };
    const token = await issuer.accessToken("operator");
    const measures: Record<string, () => Promise<Figure[]>> = {
      1: async () => {
        await installForMember(small.ownerUrl);
        const server = await startEhr(small.serviceUrl, { issuer });
        const paths = {
          "GET …/installed": "/app-installations/app-1/installed",
          "GET /api/app-installations": "/app-installations",
        };
        const member = await issuer.accessToken("riverside-member");
        const tokens = { issuer: issuer.issuer, jwksUrl: issuer.jwksUrl, audience: "ehr" };
        const figures = await warmCpu(server, { paths, atLeast: 0.6, token: member, tokens });
        await server.stop();
        return figures;
      },
      2: async () => {
        const large = await prepareEhrDatabase(cluster.url, "bench_ehr_large");
        const many = await loadInstallations(large.ownerUrl, Number(values.installations));
        return coldReads({ small: few, large: { ...large, organisations: many } }, issuer, {
          name: "cold list",
          token,
          request: (alias) => ({ path: "/app-installations", headers: { "x-org-alias": alias } }),
        });
      },
      3: () => launchThroughput(small.serviceUrl, issuer, token),
      4: () => subscribeToInstalled(cluster.url, issuer, Number(values.seconds)),
    };
    return await measureFigures(values.figures, measures);
  } finally {
    await issuer.stop();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
