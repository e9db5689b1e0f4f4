import { randomBytes, randomUUID } from "node:crypto";
import type { TokenIssuer } from "@ehr-marketplace/dev/service-environments";
import type { Figure } from "../figures.ts";
import { Client, connect, median, throughput } from "../measure.ts";
import { startEhr } from "../servers.ts";

const seconds = 5;
const rounds = 5;

const logRow = `insert into launches
  (id, org_alias, app_slug, launch_type, user_issuer, user_subject, patient_id, encounter_id, launched_at)
  values ($1, 'clinic-1', 'app-38', 'native', 'https://id.example', 'operator', $2, $3, now())`;
const logRowAndContext = `with logged as (${logRow.replace("'native'", "'smart'")})
  insert into launch_contexts
    (launch_hash, launch_id, org_alias, app_slug, user_subject, patient_id, encounter_id, expires_at)
  values ($4, $1, 'clinic-1', 'app-38', 'operator', $2, $3, now() + interval '5 minutes')`;

/** Measures `POST …/launch` per second, against a bare insert of the same rows with as many connections. */
export async function launchThroughput(serviceUrl: string, issuer: TokenIssuer, token: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const clients of [10, 32]) figures.push(...(await measureLaunches(clients, serviceUrl, issuer, token)));
  return figures;
}

async function measureLaunches(
  clients: number,
  serviceUrl: string,
  issuer: TokenIssuer,
  token: string,
): Promise<Figure[]> {
  const environment = { DATABASE_POOL_SIZE: String(clients) };
  const server = await startEhr(serviceUrl, { issuer, environment });
  const httpClients = Array.from({ length: clients }, () => new Client(server.url));
  const connections = await connect(serviceUrl, clients);
  const figures: Figure[] = [];
  for (const launchType of ["native", "smart"] as const) {
    const launch = async (client: number): Promise<void> => {
      const body = { patientId: randomUUID(), encounterId: randomUUID(), launchType };
      const url = `${server.url}/app-installations/app-38/launch`;
      const response = await httpClients[client]?.post(url, token, body, { "x-org-alias": "clinic-1" });
      if (response === undefined || response.status >= 300)
        throw new Error(`${response?.status}: ${response?.body.toString()}`);
    };
    const insert = async (client: number): Promise<void> => {
      const ids = [randomUUID(), randomUUID(), randomUUID()];
      if (launchType === "native") await connections[client]?.query(logRow, ids);
      else await connections[client]?.query(logRowAndContext, [...ids, randomBytes(32)]);
    };
    await throughput(clients, 2, launch);
    await throughput(clients, 2, insert);
    const pairs: { ours: number; bare: number; cpu: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const before = await server.cpu();
      const ours = await throughput(clients, seconds, launch);
      const cpu = ((await server.cpu()) - before) / (ours * seconds);
      pairs.push({ ours, cpu, bare: await throughput(clients, seconds, insert) });
    }
    figures.push({
      name: `3 POST …/launch (${launchType}), per second`,
      measured: `${median(pairs.map((pair) => pair.ours)).toFixed(0)}/s (${median(pairs.map((pair) => pair.cpu)).toFixed(0)} µs of CPU each)`,
      reference: `${median(pairs.map((pair) => pair.bare)).toFixed(0)}/s by the bare insert, ${clients} connections`,
      value: median(pairs.map((pair) => pair.ours / pair.bare)),
      goal: { atLeast: 0.5 },
    });
  }
  await Promise.all(httpClients.map((client) => client.close()));
  await Promise.all(connections.map((connection) => connection.end()));
  await server.stop();
  return figures;
}
