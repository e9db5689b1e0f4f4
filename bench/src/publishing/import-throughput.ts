import type { ImportResult } from "@ehr-marketplace/contracts";
import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { prepareEhrDatabase, prepareMarketplaceDatabase } from "@ehr-marketplace/dev/postgres";
import { type ServiceDatabase, withClient } from "@ehr-marketplace/test-kit";
import { request } from "undici";
import type { Figure } from "../figures.ts";
import { type BenchServer, startApi, startEhr } from "../servers.ts";

const maxSeconds = 600;

interface ImportBench {
  name: string;
  prepare: (clusterUrl: string, name: string) => Promise<ServiceDatabase>;
  start: (database: ServiceDatabase, issuer: IdentityProvider) => Promise<BenchServer>;
  line: (index: number) => object;
}

const secretOf = (index: number): string => `the secret of practice ${index}`;

const benches: ImportBench[] = [
  {
    name: "organisations of the marketplace",
    prepare: prepareMarketplaceDatabase,
    start: ({ serviceUrl }, { issuer, jwksUrl }) =>
      startApi(serviceUrl, { TOKEN_ISSUER: issuer, TOKEN_JWKS_URL: jwksUrl }),
    line: (index) => ({
      alias: `practice-${index}`,
      displayName: `Practice ${index}`,
      // 100 EHRs, each with its own address, as practices share the hosts of their EHR.
      callbackUrl: `https://10.20.0.${index % 100}/${index}`,
      callbackNetworks: ["10.20.0.0/16"],
      secret: secretOf(index),
    }),
  },
  {
    name: "secrets of the EHR service",
    prepare: prepareEhrDatabase,
    start: ({ serviceUrl }, issuer) => startEhr(serviceUrl, { issuer }),
    line: (index) => ({ alias: `practice-${index}`, secret: secretOf(index) }),
  },
];

const linesPerPart = 1_000;

async function sendPart(url: string, token: string, lines: object[]): Promise<ImportResult[]> {
  const response = await request(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(text);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as ImportResult);
}

/** Sends all lines in parts, this many at once, and returns the seconds. Throws unless every line has the status. */
async function sendParts(
  { line }: ImportBench,
  { url, token, count }: { url: string; token: string; count: number },
  { first = 0, concurrency, expected }: { first?: number; concurrency: number; expected: ImportResult["status"] },
): Promise<number> {
  const began = performance.now();
  let next = 0;
  const sendInTurn = async (): Promise<void> => {
    while (next < count) {
      const start = next;
      next += linesPerPart;
      const length = Math.min(linesPerPart, count - start);
      const lines = Array.from({ length }, (_, index) => line(first + start + index));
      const results = await sendPart(url, token, lines);
      const other = results.find(({ status }) => status !== expected);
      if (other !== undefined) throw new Error(JSON.stringify(other));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendInTurn));
  return seconds(began);
}

const seconds = (since: number): number => (performance.now() - since) / 1_000;

/** Copies the imported rows and their audit entries by COPY, into tables with the same columns, constraints and indexes. */
function measureCopy(clusterUrl: string, databaseName: string): Promise<number> {
  const url = new URL(clusterUrl);
  url.pathname = databaseName;
  return withClient(url.href, async (client) => {
    const read = async (statement: string): Promise<string> => {
      const { rows } = await client.query<{ value: string }>(statement);
      return rows[0]?.value ?? "";
    };
    const directory = await read("select current_setting('data_directory') as value");
    const copies: string[] = [];
    for (const table of ["organisations", "audit_entries"]) {
      // Generated columns can't be copied.
      const columns = await read(
        `select string_agg(quote_ident(column_name), ', ') as value from information_schema.columns
         where table_name = '${table}' and is_generated = 'NEVER'`,
      );
      const file = `'${directory}/bench-${table}.copy'`;
      await client.query(`create table bench_${table} (like ${table} including all)`);
      await client.query(`copy (select ${columns} from ${table}) to ${file}`);
      copies.push(`copy bench_${table} (${columns}) from ${file}`);
    }
    const began = performance.now();
    for (const copy of copies) await client.query(copy);
    return seconds(began);
  });
}

async function measureImport(
  bench: ImportBench,
  clusterUrl: string,
  issuer: IdentityProvider,
  count: number,
  index: number,
): Promise<Figure[]> {
  const databaseName = `bench_import_${index}`;
  const database = await bench.prepare(clusterUrl, databaseName);
  const server = await bench.start(database, issuer);
  try {
    const token = await issuer.accessToken("operator");
    const url = `${server.url}/admin/organisations/import`;
    const target = { url, token, count };
    const took = await sendParts(bench, target, { concurrency: 1, expected: "created" });
    const copied = await measureCopy(clusterUrl, databaseName);
    const repeated = await sendParts(bench, target, { concurrency: 1, expected: "unchanged" });
    const twoAtOnce = await sendParts(bench, target, { first: count, concurrency: 2, expected: "created" });
    const rate = (duration: number): string => `${duration.toFixed(1)} s, ${Math.round(count / duration)} a second`;
    const subject = `${count} ${bench.name}`;
    return [
      {
        name: `import of ${subject}, seconds`,
        measured: rate(took),
        reference: "",
        value: took,
        goal: { atMost: (maxSeconds * count) / 250_000 },
      },
      {
        name: `import of ${subject}, ratio to COPY of the same rows`,
        measured: rate(took),
        reference: rate(copied),
        value: took / copied,
      },
      {
        name: `the same with others, two parts at once, seconds`,
        measured: rate(twoAtOnce),
        reference: "",
        value: twoAtOnce,
      },
      { name: `the same import again, seconds`, measured: rate(repeated), reference: "", value: repeated },
    ];
  } finally {
    await server.stop();
  }
}

/** Figure 3: how long imports in parts of 1,000 lines take, first and again, in both services. */
export async function importThroughput(clusterUrl: string, issuer: IdentityProvider, count: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [index, bench] of benches.entries()) {
    figures.push(...(await measureImport(bench, clusterUrl, issuer, count, index)));
  }
  return figures;
}
