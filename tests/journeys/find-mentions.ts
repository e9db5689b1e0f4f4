import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { CleanUp } from "@ehr-marketplace/test-kit";
import { withClient } from "@ehr-marketplace/test-kit";

export interface Collector {
  url: string;
  /** The bytes of all requests. */
  received(): string;
}

/** Starts an OpenTelemetry collector that keeps what it receives. */
export async function startCollector(cleanUp: CleanUp): Promise<Collector> {
  const chunks: Buffer[] = [];
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received: () => Buffer.concat(chunks).toString("latin1") };
}

/** Returns the encodings of an id: with and without dashes, and as the bytes of a text or of a UUID. */
export function idEncodings(id: string): string[] {
  const digits = id.replaceAll("-", "");
  return [id, digits, Buffer.from(id).toString("hex"), Buffer.from(digits, "hex").toString("base64").slice(0, 21)];
}

export function mentions(text: string, id: string): boolean {
  const lower = text.toLowerCase();
  return idEncodings(id).some((encoded) => lower.includes(encoded.toLowerCase()));
}

const allTables = `
select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
where relkind in ('r', 'm') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast') order by 1`;

/** Finds the tables with a row that contains the id in any column; a partition counts as its parent table. */
export function findTablesMentioning(ownerUrl: string, id: string): Promise<string[]> {
  return withClient(ownerUrl, async (client) => {
    const found = new Set<string>();
    for (const { name } of (await client.query<{ name: string }>(allTables)).rows) {
      const encodings = idEncodings(id).map((encoded) => `%${encoded.toLowerCase()}%`);
      const row = `select from only ${name} as row where lower(to_jsonb(row)::text) like any ($1) limit 1`;
      if ((await client.query(row, [encodings])).rowCount !== 0) found.add(name.replace(/_\d{8}$/, ""));
    }
    return [...found];
  });
}
