import { Readable } from "node:stream";
import type { ImportSummary } from "@ehr-marketplace/contracts";
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

/** Generated while it is sent: the whole file would take the memory that PostgreSQL caches with. */
function* linesInChunks(bench: ImportBench, count: number): Generator<string> {
  const linesPerChunk = 500;
  for (let start = 0; start < count; start += linesPerChunk) {
    const length = Math.min(linesPerChunk, count - start);
    yield Array.from({ length }, (_, index) => `${JSON.stringify(bench.line(start + index))}\n`).join("");
  }
}

async function sendImport(url: string, token: string, body: Readable): Promise<ImportSummary> {
  const response = await request(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let last = "";
  for await (const chunk of response.body) last = `${last}${String(chunk)}`.slice(-2_000);
  const summary = JSON.parse(last.trimEnd().split("\n").at(-1) ?? "") as ImportSummary;
  if (response.statusCode !== 200 || summary.problem !== undefined) throw new Error(last);
  return summary;
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
    const began = performance.now();
    const { created } = await sendImport(url, token, Readable.from(linesInChunks(bench, count)));
    const took = seconds(began);
    if (created !== count) throw new Error(`${created} of ${count} were created`);
    const repeatBegan = performance.now();
    const { unchanged } = await sendImport(url, token, Readable.from(linesInChunks(bench, count)));
    const repeated = seconds(repeatBegan);
    if (unchanged !== count) throw new Error(`${unchanged} of ${count} were unchanged`);
    const copied = await measureCopy(clusterUrl, databaseName);
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
      { name: `the same import again, seconds`, measured: rate(repeated), reference: "", value: repeated },
    ];
  } finally {
    await server.stop();
  }
}

/** Figure 3: how long imports take, first and again, in both services. */
export async function importThroughput(clusterUrl: string, issuer: IdentityProvider, count: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [index, bench] of benches.entries()) {
    figures.push(...(await measureImport(bench, clusterUrl, issuer, count, index)));
  }
  return figures;
}
